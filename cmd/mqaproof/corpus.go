package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"mqaproof/corpus"
)

func corpusCommand() *cobra.Command {
	c := &cobra.Command{Use: "corpus", Short: "List and show saved cases"}
	var dir string
	var asJSON bool
	c.PersistentFlags().StringVar(&dir, "corpus", "corpus", "`folder` of saved cases; where it does not exist, the cases that came with mqaproof")
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")

	list := &cobra.Command{
		Use: "list", Short: "List the saved cases", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := namedFolder(c, dir); err != nil {
				return err
			}
			entries, problems, err := corpus.All(dir)
			if err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintf(c.ErrOrStderr(), "mqaproof: left out: %v\n", p)
			}
			if asJSON {
				return printJSON(c, entries)
			}
			t := newTable("case", "subject", "target", "wiring", "property", "fault", "shape")
			for _, e := range entries {
				t.AppendRow(table.Row{e.Path, e.Subject.Name, e.Subject.Target, e.Subject.Wiring, e.Property, e.Fault, e.Shape()})
			}
			fmt.Fprintln(c.OutOrStdout(), t.Render())
			return nil
		},
	}
	show := &cobra.Command{
		Use: "show CASE", Short: "Print one saved case", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := namedFolder(c, dir); err != nil {
				return err
			}
			e, err := corpus.Open(dir, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c, e.Entry)
			}
			w := c.OutOrStdout()
			fmt.Fprintf(w, "%s\n%s\n", e.Path, e.Shape())
			if e.Note != "" {
				fmt.Fprintln(w, e.Note)
			}
			fmt.Fprintf(w, "breaks %s of %s", e.Property, strings.Join(strings.Fields(e.Subject.Name+" "+e.Subject.Target+" "+e.Subject.Wiring), " "))
			if e.Fault != "" {
				fmt.Fprintf(w, " (fault %s)", e.Fault)
			}
			if e.Unverified {
				fmt.Fprint(w, " (unverified)")
			}
			if e.Expected.Rows > 0 {
				fmt.Fprintf(w, ": %d of %d rows", e.Expected.WrongRows, e.Expected.Rows)
			}
			fmt.Fprintf(w, "\nsaved by mqaproof %s\n", e.Tool)
			text, err := e.Encode()
			if err != nil {
				return err
			}
			_, err = w.Write(text)
			return err
		},
	}
	c.AddCommand(list, show)
	return c
}

// namedFolder reports that the corpus folder which the user named is none. The
// default one need not exist.
func namedFolder(c *cobra.Command, dir string) error {
	if !c.Flags().Changed("corpus") {
		return nil
	}
	return corpus.Exists(dir)
}
