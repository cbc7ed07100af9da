package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mqaproof/kernels"
	"mqaproof/properties/exhaust"
)

func exhaustCommand() *cobra.Command {
	var (
		sel    selection
		o      exhaust.Options
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "exhaust",
		Short: "Run metadata kernels for every request length up to a bound",
		Long: `What "prove" proves of the formulas, this shows of the machine code: a metadata
kernel's code object is run for every length under each setting of a grid, and
every element that it writes is held to the proved formulas, which are held in
turn to a walk over positions that only counts. Progress is kept in the folder
of checkpoints: after Ctrl-C the same command goes on from there.`,
		Example: `  mqaproof exhaust --subject hip/metadata --target gfx942
  mqaproof exhaust --subject 'vllm/*'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			subjects, err := sel.known(c.ErrOrStderr())
			if err != nil {
				return err
			}
			subjects = keep(subjects, func(s *kernels.Subject) bool {
				return exhaust.Applies(s) && (s.Fault() == "" || sel.subject != "" || sel.manifest != "")
			})
			if len(subjects) == 0 {
				return fmt.Errorf("no metadata kernel matches %s: see `mqaproof kernels list`", &sel)
			}
			if o.Dir == "" {
				if o.Dir, err = checkpoints(); err != nil {
					return err
				}
			}
			b := newBar(false)
			o.Progress = func(p exhaust.Progress) { b.count(p.Subject.String(), p.Units, p.Of) }
			return exhaustAll(c, subjects, o, b, asJSON)
		},
	}
	sel.addFlags(c)
	f := c.Flags()
	f.StringVar(&o.Dir, "checkpoints", "", "`folder` of checkpoints (default: mqaproof/exhaust in the user's cache folder)")
	f.IntVar(&o.Workers, "workers", 0, "goroutines; 0: all cores")
	f.IntVar(&o.Short, "short", 0, "largest `length` under every setting of the grid (0: the kernel's kind's own)")
	f.IntVar(&o.Long, "long", 0, "largest `length` in one setting of each kind (0: 2^20)")
	f.BoolVar(&asJSON, "json", false, "print the results as JSON")
	return c
}

func checkpoints() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for checkpoints: %w: name one with --checkpoints", err)
	}
	return filepath.Join(dir, "mqaproof", "exhaust"), nil
}

func exhaustAll(c *cobra.Command, subjects []*kernels.Subject, o exhaust.Options, b *bar, asJSON bool) error {
	w := c.OutOrStdout()
	results := []*exhaust.Result{}
	found := false
	var stopped error
	for _, s := range subjects {
		r, err := exhaust.Exhaust(c.Context(), s, o)
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s: %w", s, err)
		}
		results = append(results, r)
		found = found || r.Counterexample != nil
		if !asJSON {
			b.printing(w, func(w io.Writer) { exhausted(w, r) })
		}
		if err != nil {
			stopped = err
			break
		}
	}
	if asJSON {
		if err := printJSON(c, results); err != nil {
			return err
		}
	}
	if found {
		return errFound
	}
	return stopped
}

func exhausted(w io.Writer, r *exhaust.Result) {
	verdict := "every length holds"
	switch {
	case r.Counterexample != nil:
		verdict = "COUNTEREXAMPLE: " + r.Counterexample.String()
	case !r.Complete:
		verdict = fmt.Sprintf("stopped after %d of %d units; the same command goes on", r.Done, r.Units)
	}
	fmt.Fprintf(w, "%s: %d settings, %d lengths, %d elements, %.0f s of work: %s\n", r.Subject, r.Settings, r.Lengths, r.Elements, r.Seconds, verdict)
}
