package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mqaproof/campaign"
	"mqaproof/corpus"
	"mqaproof/report"
)

func fuzzCommand() *cobra.Command {
	var (
		sel    selection
		o      campaign.Options
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "Run kernels on generated cases and shrink what fails",
		Long: `Runs each subject (a kernel, for a target, with a wiring of its lengths) on
generated cases and checks every property. A failing case is shrunk to a
minimal one and saved to the corpus. Without --subject or --manifest the
built-in subjects run; some of them have a planted fault that their manifest
announces, and it is a surprise when such a fault is not found.

Ctrl-C stops the campaign and keeps what was found.`,
		Example: `  mqaproof fuzz
  mqaproof fuzz --subject 'aiter/*' --for 8h --corpus found
  mqaproof fuzz --manifest my.yaml --code-object my.hsaco --seed 7`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Cases < 1 {
				return fmt.Errorf("--cases %d: at least one case is needed", o.Cases)
			}
			if c.Flags().Changed("for") && o.For <= 0 {
				return fmt.Errorf("--for %s: a time above zero is needed", o.For)
			}
			if o.Workers < 0 {
				return fmt.Errorf("--workers %d: a number of workers is needed, or 0 for all cores", o.Workers)
			}
			subjects, err := sel.subjects(c.ErrOrStderr())
			if err != nil {
				return err
			}
			if o.Corpus != "" {
				if err := corpus.Prepare(o.Corpus); err != nil {
					return err
				}
			}
			o.Subjects, o.Tool = subjects, version()
			return fuzz(c, o, asJSON)
		},
	}
	sel.addFlags(c)
	f := c.Flags()
	f.IntVar(&o.Cases, "cases", 500, "cases a subject")
	f.DurationVar(&o.For, "for", 0, "run for this `time` in all instead of a number of cases (30s, 8h)")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the generated cases")
	f.IntVar(&o.Workers, "workers", 0, "cases run at once; 0: all cores. What is found does not depend on it")
	f.StringVar(&o.Corpus, "corpus", "corpus", "`folder` to save counterexamples in; '' saves none")
	f.Uint64Var(&o.Budget, "budget", 0, fmt.Sprintf("instructions a wave may run before it counts as stuck (0: %d)", campaign.DefaultBudget))
	f.BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	c.MarkFlagsMutuallyExclusive("cases", "for")
	return c
}

func fuzz(c *cobra.Command, o campaign.Options, asJSON bool) error {
	start := time.Now()
	w, b := c.OutOrStdout(), newBar(false)
	o.Progress = b.update
	if !asJSON {
		report.Header(w)
	}
	all := campaign.Fuzz(c.Context(), o, func(out *report.Outcome) {
		if !asJSON {
			b.printing(w, func(w io.Writer) { out.Text(w) })
		}
	})
	took := time.Since(start)
	if asJSON {
		if err := report.JSON(w, all, took, o.Seed); err != nil {
			return err
		}
	} else {
		report.Summary(w, all, took, o.Seed)
		if left := len(o.Subjects) - len(all); left > 0 {
			fmt.Fprintf(w, "Stopped: %d subjects were not begun.\n", left)
		}
	}
	err := verdict(all)
	if err == nil && c.Context().Err() != nil {
		return errStopped
	}
	return err
}

// verdict is the error for a campaign's exit code: a surprise weighs more than
// a subject that could not be run.
func verdict(all []*report.Outcome) error {
	n := report.Count(all)
	switch {
	case n.Surprises > 0:
		return errFound
	case n.Failed > 0:
		return fmt.Errorf("%d of %d subjects could not be run, or what they showed not saved", n.Failed, len(all))
	}
	return nil
}
