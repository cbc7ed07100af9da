package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Options says what to prove and how. The zero value proves every theorem in
// the default domain with the prover in Go and the solvers that are on PATH.
type Options struct {
	Domain   Domain         // zero: DefaultDomain
	Solver   Domain         // the solvers' domain, cut to Domain; zero: SolverDomain
	Theorems []string       // empty: all
	Provers  []string       // "go", "z3", "cvc5"; empty: go and what is on PATH
	Dir      string         // where certificates go; empty: nowhere
	Workers  int            // of the prover in Go; 0: one a core
	PerQuery time.Duration  // what a solver may spend on a query; 0: 10 s
	Progress func(Progress) // called from several goroutines; may be nil
}

// Progress is how far a prover is with a part of a theorem.
type Progress struct {
	Theorem, Part, Prover string
	Done, Total           int // settings of the prover in Go, queries of a solver
}

// Prove proves the theorems, each with every prover, and returns a certificate
// for each pair, theorem by theorem. A theorem that turns out broken is no
// error: see Certificate.Holds. That two provers disagree is (Disagreement),
// and so is a bad option or a prover that fails. The certificates made before
// an error are returned, and written, too.
func Prove(ctx context.Context, o Options) ([]Certificate, error) {
	theorems, err := o.complete()
	if err != nil {
		return nil, err
	}
	var solvers []smtProver
	withGo := false
	for _, name := range o.Provers {
		if name == goName {
			withGo = true
			continue
		}
		s, err := findSolver(name)
		if err != nil {
			return nil, err
		}
		solvers = append(solvers, smtProver{s, integers, o.PerQuery}, smtProver{s, vectors32, o.PerQuery})
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o777); err != nil {
			return nil, fmt.Errorf("proof: %w", err)
		}
	}
	var all []Certificate
	for _, t := range theorems {
		var cs []Certificate
		if withGo {
			c, err := o.proveGo(ctx, t)
			if err != nil {
				return all, err
			}
			cs = append(cs, c)
		}
		for _, p := range solvers {
			c, err := o.proveSMT(ctx, t, p)
			if err != nil {
				return append(all, cs...), err
			}
			cs = append(cs, c)
		}
		if o.Dir != "" {
			for i := range cs {
				if err := cs[i].write(o.Dir); err != nil {
					return append(all, cs...), err
				}
			}
		}
		all = append(all, cs...)
		if err := compare(cs); err != nil {
			return all, err
		}
	}
	return all, nil
}

// complete fills in what is left open.
func (o *Options) complete() ([]Theorem, error) {
	if o.Domain == (Domain{}) {
		o.Domain = DefaultDomain()
	}
	if o.Solver == (Domain{}) {
		o.Solver = SolverDomain()
	}
	o.Solver.World = min(o.Solver.World, o.Domain.World)
	o.Solver.Interleave = min(o.Solver.Interleave, o.Domain.Interleave)
	o.Solver.Ratio = min(o.Solver.Ratio, o.Domain.Ratio)
	o.Solver.NextN = min(o.Solver.NextN, o.Domain.NextN)
	o.Solver.MaxLen = o.Domain.MaxLen
	for _, d := range []Domain{o.Domain, o.Solver} {
		if err := d.validate(); err != nil {
			return nil, err
		}
	}
	if o.PerQuery == 0 {
		o.PerQuery = 10 * time.Second
	}
	if len(o.Provers) == 0 {
		o.Provers = []string{goName}
		for _, name := range Solvers() {
			if _, err := findSolver(name); err == nil {
				o.Provers = append(o.Provers, name)
			}
		}
	}
	if len(o.Theorems) == 0 {
		return All(), nil
	}
	var names []string
	for _, t := range All() {
		names = append(names, t.Name)
	}
	var ts []Theorem
	for _, name := range o.Theorems {
		t, ok := Find(name)
		if !ok {
			return nil, fmt.Errorf("proof: no theorem is named %q; there are %s", name, strings.Join(names, ", "))
		}
		ts = append(ts, t)
	}
	return ts, nil
}

func (o Options) report(t Theorem, p Part, prover string, done, total int) {
	if o.Progress != nil {
		o.Progress(Progress{t.Name, p.Name, prover, done, total})
	}
}

func (o Options) proveGo(ctx context.Context, t Theorem) (Certificate, error) {
	c := Certificate{
		Theorem: t.Name, Sentence: t.Sentence, Domain: o.Domain, Prover: goName, Version: version(),
		Grid:    "every value",
		Lengths: "all of them, by residues: integers without bound, but in the theorem range",
	}
	start := time.Now()
	for _, p := range t.Parts {
		f, err := goPart(ctx, p, o.Domain, o.Workers, func(done, total int) { o.report(t, p, goName, done, total) })
		if err != nil {
			return c, err
		}
		c.Verdicts = append(c.Verdicts, verdict(p, f))
	}
	c.Seconds = time.Since(start).Seconds()
	return c, nil
}

func (o Options) proveSMT(ctx context.Context, t Theorem, p smtProver) (Certificate, error) {
	c := Certificate{
		Theorem: t.Name, Sentence: t.Sentence, Domain: o.Solver, Prover: p.proverName(), Version: p.version,
		Grid:    p.grid,
		Lengths: "all integers from 0, and where the theorem says so all negative ones",
		Command: p.solver.name + " " + strings.Join(p.flagsFor(false), " "),
	}
	if p.bits {
		c.Lengths = "32-bit vectors up to 2147483646, which wrap; signed"
	}
	start := time.Now()
	fs, input, err := p.prove(ctx, t, o.Solver, func(part, done, total int) { o.report(t, t.Parts[part], c.Prover, done, total) })
	if err != nil {
		return c, err
	}
	c.input = input
	for i, f := range fs {
		c.Verdicts = append(c.Verdicts, verdict(t.Parts[i], f))
	}
	c.Seconds = time.Since(start).Seconds()
	return c, nil
}

// version names the tool and the compiler that made it.
func version() string {
	tool := "devel"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			tool = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				tool = s.Value
			}
		}
	}
	return "mqaproof " + tool + " " + runtime.Version()
}

// Disagreement is that two provers contradict one another.
type Disagreement struct {
	Theorem, Part string
	Provers       [2]string
	Say           [2]string
}

func (d *Disagreement) Error() string {
	return fmt.Sprintf("proof: theorem %s, part %s: %s says %s, %s says %s", d.Theorem, d.Part, d.Provers[0], d.Say[0], d.Provers[1], d.Say[1])
}

// compare looks for contradictions among the certificates of one theorem.
func compare(cs []Certificate) error {
	var all []error
	for i, a := range cs {
		for _, b := range cs[i+1:] {
			for part, v := range a.Verdicts {
				if contradict(a, v, b, b.Verdicts[part]) || contradict(b, b.Verdicts[part], a, v) {
					all = append(all, &Disagreement{a.Theorem, v.Part, [2]string{a.Prover, b.Prover}, [2]string{v.says(), b.Verdicts[part].says()}})
				}
			}
		}
	}
	return errors.Join(all...)
}

func (v Verdict) says() string {
	if v.Counterexample != nil {
		return fmt.Sprintf("%s (%s)", v.Result, v.Counterexample)
	}
	return string(v.Result)
}

// contradict says that b's counterexample w lies where a looked, and a has
// proved the part there or found another first.
func contradict(a Certificate, va Verdict, b Certificate, vb Verdict) bool {
	w := vb.Counterexample
	if w == nil || w.Length < 0 || va.Result == Unknown || va.Result == Broken && va.Counterexample == nil || !a.covers(w.Setting) {
		return false
	}
	if va.Counterexample == nil {
		return true
	}
	// Both have one: at the first setting of both grids it is the same.
	return va.Counterexample.Length >= 0 && b.covers(va.Counterexample.Setting) && *va.Counterexample != *w
}

// covers says that the certificate is about the setting.
func (c Certificate) covers(s Setting) bool {
	d := c.Domain
	if s.World > d.World || s.Interleave > d.Interleave || s.Ratio > d.Ratio || s.NextN > d.NextN {
		return false
	}
	for _, th := range []theory{integers, vectors32} {
		if strings.HasSuffix(c.Prover, "-"+th.name) {
			return !slices.ContainsFunc([]int{s.World, s.Interleave, s.Ratio}, func(v int) bool { return !th.keep(v) })
		}
	}
	return true
}
