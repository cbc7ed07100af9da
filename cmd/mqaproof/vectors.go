package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mqaproof/model/vectors"
)

func vectorsCommand() *cobra.Command {
	c := &cobra.Command{Use: "vectors", Short: "Hold the model to measured and recorded vectors"}
	var asJSON bool
	check := &cobra.Command{
		Use:   "check PATH...",
		Short: "Check sets of vectors: matrix-core tiles (.json with .bin) and builder steps (.jsonl)",
		Long: `Computes every output of every set and says how many are equal, with the first
that differs in full. PATH is a set or a folder of sets; two kinds are known,
tiles of a matrix core and recorded steps of the metadata builder.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			type resultJSON struct {
				vectors.Result
				Error string `json:"error,omitempty"`
			}
			all := []resultJSON{}
			differ, damaged := 0, 0
			err := vectors.Check(c.Context(), args, func(r vectors.Result) {
				j := resultJSON{Result: r}
				switch {
				case r.Err != nil:
					damaged++
					j.Error = r.Err.Error()
				case !r.Holds():
					differ++
				}
				all = append(all, j)
				if !asJSON {
					fmt.Fprintln(c.OutOrStdout(), r)
					if r.First != "" {
						fmt.Fprintf(c.OutOrStdout(), "the first that differs:\n%s\n", strings.TrimRight(r.First, "\n"))
					}
				}
			})
			if asJSON {
				if jsonErr := printJSON(c, all); jsonErr != nil {
					return jsonErr
				}
			}
			switch {
			case differ > 0:
				return errFound
			case err != nil:
				return err
			case damaged > 0:
				return fmt.Errorf("%d of %d sets could not be read", damaged, len(all))
			}
			return nil
		},
	}
	check.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(check)
	return c
}
