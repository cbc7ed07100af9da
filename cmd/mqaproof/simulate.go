package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mqaproof/corpus"
	"mqaproof/properties/stateful"
	"mqaproof/report"
	"mqaproof/sim/serving"
)

func simulateCommand() *cobra.Command {
	var (
		o      stateful.Options
		faults []string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Simulate serving steps and check the metadata that every step's kernels read",
		Long: `Runs an engine in miniature: requests arrive, prefill in chunks, decode with
speculative tokens, finish and are preempted; pages come and go; steps are
padded to captured graph sizes and replayed; ranks run side by side. After
every step properties are checked, the per-request lengths against the table
at the moment a layer's kernel reads them among them. The engine runs once
without a fault and once with each planted fault; a failing sequence of steps
is shrunk to the shortest and saved.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, name := range faults {
				f, err := serving.ParseFault(name)
				if err != nil {
					return err
				}
				o.Faults = append(o.Faults, f)
			}
			if o.Corpus != "" {
				if err := corpus.Prepare(o.Corpus); err != nil {
					return err
				}
			}
			o.Tool = version()
			start := time.Now()
			all, err := stateful.Fuzz(c.Context(), o)
			stopped := c.Context().Err() != nil
			if err != nil && !stopped {
				return err
			}
			return simulated(c, all, time.Since(start), o.Seed, asJSON, stopped)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&faults, "fault", nil, "only an engine with this `fault` (none, or a name that a run prints); default: none, then each")
	f.IntVar(&o.Steps, "steps", 0, fmt.Sprintf("steps to run for a fault (0: %d)", stateful.DefaultSteps))
	f.IntVar(&o.Length, "length", 0, fmt.Sprintf("steps of a sequence (0: %d)", stateful.DefaultLength))
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the generated sequences")
	f.IntVar(&o.Workers, "workers", 0, "sequences run at once; 0: all cores. What is found does not depend on it")
	f.IntVar(&o.KernelEvery, "kernel-every", 500, "run real kernels on every so many-th step with decodes; 0: never")
	f.StringVar(&o.Corpus, "corpus", "corpus", "`folder` to save minimal sequences in; '' saves none")
	f.BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return c
}

func simulated(c *cobra.Command, all []stateful.Outcome, took time.Duration, seed uint64, asJSON, stopped bool) error {
	w := c.OutOrStdout()
	surprises := 0
	for i := range all {
		if all[i].Surprise() {
			surprises++
		}
	}
	if asJSON {
		if err := report.ServingJSON(w, all, took, seed); err != nil {
			return err
		}
	} else {
		report.ServingHeader(w)
		for i := range all {
			report.Serving(w, &all[i])
		}
		if stopped {
			fmt.Fprintln(w, "Stopped before every fault was tried.")
		}
		fmt.Fprintf(w, "%d engines, %d surprises. %.1fs, seed %d.\n", len(all), surprises, took.Seconds(), seed)
	}
	switch {
	case surprises > 0:
		return errFound
	case stopped:
		return errStopped
	}
	return nil
}
