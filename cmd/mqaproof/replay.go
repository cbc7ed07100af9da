package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mqaproof/campaign"
	"mqaproof/corpus"
	"mqaproof/kernels"
	"mqaproof/properties/stateful"
	"mqaproof/report"
)

func replayCommand() *cobra.Command {
	var (
		sel    selection
		dir    string
		asJSON bool
		o      kernels.RunOptions
	)
	c := &cobra.Command{
		Use:   "replay [CASE...]",
		Short: "Run saved cases again",
		Long: `Runs saved cases again and says how many rows have a wrong mask and which
properties fail. CASE is a file, or the name of a saved case or the start of
it. Without CASE every case of the corpus folder runs.

A case runs on the kernel that it was saved for, with each of its wirings, and
on further kernels that it names where they are installed; --subject, --wiring
and --manifest choose others, to which page size and layout are fitted.`,
		Example: `  mqaproof replay upstream
  mqaproof replay corpus/mask-3f9c2a1b.json --wiring last-column
  mqaproof replay upstream --subject 'aiter/*'`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := namedFolder(c, dir); err != nil {
				return err
			}
			entries, err := cases(dir, args, c.ErrOrStderr())
			if err != nil {
				return err
			}
			all, err := sel.all(c.ErrOrStderr())
			if err != nil {
				return err
			}
			if sel.manifest == "" && sel.builtin() {
				all = append(all, imported(c.ErrOrStderr())...)
			}
			return replay(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), entries, all, sel, o, asJSON, len(args) > 0)
		},
	}
	sel.addFlags(c)
	f := c.Flags()
	f.StringVar(&dir, "corpus", "corpus", "`folder` of saved cases; where it does not exist, the cases that came with mqaproof")
	f.IntVar(&o.Workers, "workers", 0, "workgroups run at once; 0: all cores")
	f.Uint64Var(&o.Budget, "budget", 0, "instructions a wave may run before it counts as stuck (0: the emulator's default)")
	f.BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return c
}

// cases by name, or the whole corpus; damaged files of the folder are named on
// warn and left out.
func cases(dir string, names []string, warn io.Writer) ([]corpus.Named, error) {
	if len(names) == 0 {
		entries, problems, err := corpus.All(dir)
		for _, p := range problems {
			fmt.Fprintf(warn, "mqaproof: left out: %v\n", p)
		}
		if err == nil && len(entries) == 0 {
			err = fmt.Errorf("there is no case in %s", dir)
		}
		return entries, err
	}
	var entries []corpus.Named
	for _, name := range names {
		e, err := corpus.Open(dir, name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func replay(ctx context.Context, w, warn io.Writer, entries []corpus.Named, all []*kernels.Subject, sel selection, o kernels.RunOptions, asJSON, details bool) error {
	var (
		results   []*report.Replayed
		sequences []report.ReplayedSequence
		broken    int
		ran       int
		left      []error
		stopped   error
	)
	for _, e := range entries {
		if e.Sequence != nil {
			r, err := stateful.Replay(ctx, e.Entry)
			if err != nil {
				return fmt.Errorf("%s: %w", e.Path, err)
			}
			sequences = append(sequences, report.NewReplayedSequence(e, r))
			ran++
			if r.Violation != nil {
				broken++
			}
			if !asJSON {
				report.Sequence(w, e, r)
			}
			continue
		}
		subjects, err := campaign.SubjectsFor(e.Entry, all, campaign.Choice{Subject: sel.subject, Wiring: sel.wiring, Target: sel.target, Own: sel.manifest != ""}, details)
		if errors.Is(err, campaign.ErrNotInstalled) && !details {
			left = append(left, fmt.Errorf("%s: %w", e.Path, err))
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
		if !asJSON {
			fmt.Fprintf(w, "%s: %s\n", e.Path, e.Shape())
			if e.Note != "" {
				fmt.Fprintf(w, "  %s\n", e.Note)
			}
		}
		err = campaign.Replay(ctx, e, subjects, o, func(r *report.Replayed) {
			results = append(results, r)
			if r.Err == nil {
				ran++
			}
			if len(r.Violations) > 0 {
				broken++
			}
			if !asJSON {
				fmt.Fprint(w, "  ")
				r.Text(w)
				if details && r.Rows <= 16 {
					r.Details(w)
				}
			}
		})
		if err != nil {
			stopped = err
			break
		}
	}
	if asJSON {
		if err := report.ReplaysJSON(w, results, sequences); err != nil {
			return err
		}
	}
	for _, err := range left {
		fmt.Fprintf(warn, "mqaproof: not replayed: %v\n", err)
	}
	switch {
	case broken > 0:
		return errFound
	case stopped != nil:
		return stopped
	case ran == 0:
		return fmt.Errorf("no chosen subject could run the case")
	}
	return nil
}
