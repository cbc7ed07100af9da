package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mqaproof/kernels/calibrate"
)

func calibrateCommand() *cobra.Command {
	var target, dir string
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Find out how a GPU's fp8 matrix core accumulates",
		Long: `Where a matrix core's arithmetic is not published, the owner of such a GPU can
settle it: "calibrate probe" writes a folder with a kernel and a launcher, which
needs only Python and what ROCm ships; the launcher writes one file, and
"calibrate read" says which rule of the family gives exactly these outputs, or
that none does.`,
	}
	var names []string
	for _, t := range calibrate.Targets() {
		names = append(names, string(t))
	}
	probe := &cobra.Command{
		Use: "probe", Short: "Write the probe for a target into a folder", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := calibrate.ParseTarget(target)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = "mqaproof-probe-" + target
			}
			if err := calibrate.WriteProbe(dir, t); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: take this folder to a machine with a %s GPU; its README has the one command to run\n", dir, target)
			return nil
		},
	}
	probe.Flags().StringVar(&target, "target", "gfx950", "`target` ("+strings.Join(names, ", ")+")")
	probe.Flags().StringVar(&dir, "dir", "", "`folder` to write (default mqaproof-probe-TARGET)")
	var asJSON bool
	read := &cobra.Command{
		Use: "read FILE", Short: "Say which accumulation rules give a probe's output", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := calibrate.ReadFile(c.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(c, r)
			} else {
				err = r.WriteText(c.OutOrStdout())
			}
			if err == nil && !r.Explained() {
				return errFound
			}
			return err
		},
	}
	read.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(probe, read)
	return c
}
