package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mqaproof/campaign"
	"mqaproof/corpus"
	"mqaproof/kernels"
	"mqaproof/properties"
	"mqaproof/report"
)

func shrinkCommand() *cobra.Command {
	var (
		sel    selection
		dir    string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "shrink CASE",
		Short: "Shrink a failing case to a minimal one",
		Long: `Runs a saved case on the subject that it was saved for (or on the one that the
flags choose), shrinks it while the same property fails, and saves the minimal
case to the corpus folder.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e, err := corpus.Open(dir, args[0])
			if err != nil {
				return err
			}
			if e.Sequence != nil {
				return fmt.Errorf("%s is a sequence of engine steps, and `mqaproof simulate` saves those shrunk", e.Path)
			}
			s, err := subjectOf(e, sel, c)
			if err != nil {
				return err
			}
			return shrinkEntry(c, e, s, dir, asJSON)
		},
	}
	sel.addFlags(c)
	c.Flags().StringVar(&dir, "corpus", "corpus", "`folder` of saved cases, where the minimal one is saved")
	c.Flags().BoolVar(&asJSON, "json", false, "print the minimal case as JSON")
	return c
}

func subjectOf(e corpus.Named, sel selection, c *cobra.Command) (*kernels.Subject, error) {
	all, err := sel.all(c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if sel.manifest == "" && sel.builtin() {
		all = append(all, imported(c.ErrOrStderr())...)
	}
	want := campaign.Choice{Subject: sel.subject, Wiring: sel.wiring, Target: sel.target, Own: sel.manifest != ""}
	subjects, err := campaign.SubjectsFor(e.Entry, all, want, false)
	if err != nil {
		return nil, err
	}
	if len(subjects) > 1 {
		return nil, fmt.Errorf("%d subjects are chosen (%s, %s, ...): narrow it with --subject, --wiring or --target", len(subjects), subjects[0], subjects[1])
	}
	return subjects[0], nil
}

func shrinkEntry(c *cobra.Command, e corpus.Named, s *kernels.Subject, dir string, asJSON bool) error {
	fitted, err := s.Fit(e.Case)
	if err != nil {
		return fmt.Errorf("%s does not take the case: %w", s, err)
	}
	if err := s.Accepts(fitted); err != nil {
		return fmt.Errorf("%s is not meant for the case, so it cannot be shrunk on it: %w", s, err)
	}
	o := kernels.RunOptions{Budget: campaign.DefaultBudget}
	found, err := properties.Check(c.Context(), s, fitted, properties.All(), o)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprintf(c.OutOrStdout(), "%s holds every property on %s: there is nothing to shrink\n", s, fitted)
		return nil
	}
	v := found[0]
	for _, f := range found {
		if f.Property == e.Property {
			v = f
		}
	}
	b := newBar(false)
	min, v, err := campaign.Shrink(c.Context(), s, fitted, v, o, func(runs int) {
		b.update(campaign.Progress{Subject: s, Of: 1, Shrunk: runs})
	})
	b.printing(nil, func(_ io.Writer) {})
	stopped := c.Context().Err() != nil
	if err != nil && !stopped {
		return err
	}
	entry := campaign.NewEntry(s, v, min.Case, version())
	path, err := corpus.Save(dir, entry)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	if asJSON {
		text, err := entry.Encode()
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		return errFound
	}
	if stopped {
		fmt.Fprintln(w, "Stopped: the simplest case so far is")
	}
	report.Minimal(w, v, min)
	fmt.Fprintf(w, "    again: mqaproof replay %s\n", path)
	return errFound
}
