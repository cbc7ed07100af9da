package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"mqaproof/properties/proof"
)

func proveCommand() *cobra.Command {
	var (
		o      proof.Options
		asJSON bool
	)
	o.Domain = proof.DefaultDomain()
	c := &cobra.Command{
		Use:   "prove",
		Short: "Prove the theorems about the metadata builder's lengths",
		Long: `Proves, for every length and not by sampling, that the per-request lengths match
the table, and says precisely where one length per request can and cannot
describe the rows. The formulas are the ones that run. Two provers share nothing
but them: one in Go, which needs no tool, and the SMT solvers z3 and cvc5 where
they are on PATH. Each theorem gets a certificate; for SMT with the input, so
that anyone can run it again.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := newProofBar()
			o.Progress = b.update
			certificates, err := proof.Prove(c.Context(), o)
			b.done()
			if asJSON {
				if jsonErr := printJSON(c, certificates); jsonErr != nil {
					return jsonErr
				}
			} else {
				printCertificates(c, certificates)
			}
			if err != nil {
				return err
			}
			for _, cert := range certificates {
				if !cert.Holds() {
					return errFound
				}
			}
			if left := undecided(certificates); len(left) > 0 {
				return fmt.Errorf("no prover decided %s: a wider domain has settings for every part, and --per-query gives solvers more time", strings.Join(left, ", "))
			}
			return nil
		},
	}
	var names []string
	for _, t := range proof.All() {
		names = append(names, t.Name)
	}
	f := c.Flags()
	f.StringSliceVar(&o.Theorems, "theorem", nil, "only these `theorems` ("+strings.Join(names, ", ")+")")
	f.StringSliceVar(&o.Provers, "prover", nil, "only these `provers` (go, z3, cvc5); default: go and what is on PATH")
	f.StringVar(&o.Dir, "certificates", "", "`folder` to write certificates in")
	f.IntVar(&o.Domain.World, "world", o.Domain.World, "DCP worlds up to this")
	f.IntVar(&o.Domain.Interleave, "interleave", o.Domain.Interleave, "interleaves up to this")
	f.IntVar(&o.Domain.Ratio, "ratio", o.Domain.Ratio, "compress ratios up to this")
	f.IntVar(&o.Domain.NextN, "next-n", o.Domain.NextN, "next_n up to this")
	f.Int64Var(&o.Domain.MaxLen, "max-len", o.Domain.MaxLen, "longest request, for the theorem about int32")
	f.IntVar(&o.Workers, "workers", 0, "settings proved at once; 0: all cores")
	f.DurationVar(&o.PerQuery, "per-query", 0, "time that a solver may spend on one query (0: 10s)")
	f.BoolVar(&asJSON, "json", false, "print the certificates as JSON")
	return c
}

// undecided is the parts that no prover decided. What one solver leaves open in
// its time and another prover proves is printed beside it, and no failure.
func undecided(certificates []proof.Certificate) []string {
	var parts []string
	decided := map[string]bool{}
	for _, cert := range certificates {
		for _, v := range cert.Verdicts {
			part := cert.Theorem + "/" + v.Part
			if _, seen := decided[part]; !seen {
				parts = append(parts, part)
			}
			decided[part] = decided[part] || v.Result == v.Stated
		}
	}
	return slices.DeleteFunc(parts, func(part string) bool { return decided[part] })
}

func printCertificates(c *cobra.Command, certificates []proof.Certificate) {
	w := c.OutOrStdout()
	t := newTable("theorem", "part", "prover", "result", "settings", "smallest counterexample")
	seconds := 0.0
	for _, cert := range certificates {
		seconds += cert.Seconds
		for _, v := range cert.Verdicts {
			result := string(v.Result)
			if v.Result != v.Stated {
				result += fmt.Sprintf(", STATED %s", v.Stated)
			}
			if v.Undecided > 0 {
				result += fmt.Sprintf(", %d undecided", v.Undecided)
			}
			witness := ""
			if v.Counterexample != nil {
				witness = v.Counterexample.String()
			}
			t.AppendRow(table.Row{cert.Theorem, v.Part, cert.Prover, result, v.Settings, witness})
		}
	}
	fmt.Fprintln(w, t.Render())
	fmt.Fprintf(w, "%d certificates, %.1f s of provers\n", len(certificates), seconds)
}

// proofBar shows on a terminal how far the current prover is.
type proofBar struct {
	mu   sync.Mutex
	bar  *progressbar.ProgressBar
	what string
	on   bool
}

func newProofBar() *proofBar { return &proofBar{on: newBar(false) != nil} }

func (b *proofBar) update(p proof.Progress) {
	if !b.on {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if what := p.Theorem + " " + p.Part + ", " + p.Prover; what != b.what {
		b.clear()
		b.what = what
		b.bar = newProgress(p.Total, what)
	}
	_ = b.bar.Set(p.Done) // a bar that cannot be drawn is no reason to stop
}

func (b *proofBar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
	b.bar = nil
}

func (b *proofBar) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
}

// newProgress is the look of every progress bar.
func newProgress(total int, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions(total, progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(progressWriter),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowCount())
}
