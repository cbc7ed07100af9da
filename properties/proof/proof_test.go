package proof

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqaproof/internal/needtool"
)

var small = Domain{World: 3, Interleave: 8, Ratio: 8, NextN: 4, MaxLen: 1 << 20}

func prove(t *testing.T, o Options) []Certificate {
	t.Helper()
	cs, err := Prove(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		for _, v := range c.Verdicts {
			if v.Result != v.Stated {
				t.Errorf("%s: %s/%s is %s, stated %s: %s", c.Prover, c.Theorem, v.Part, v.Result, v.Stated, v.Detail)
			}
		}
	}
	return cs
}

// TestTheorems proves everything in Go. The witnesses are the smallest: worked
// out by hand in the comments.
func TestTheorems(t *testing.T) {
	got := map[string]Witness{}
	for _, c := range prove(t, Options{Domain: small, Provers: []string{"go"}}) {
		for _, v := range c.Verdicts {
			if v.Counterexample != nil {
				got[c.Theorem+"/"+v.Part] = *v.Counterexample
			}
		}
	}
	want := map[string]Witness{
		// Three tokens, states of two: both query tokens see one state.
		"impossible/always": {Setting{1, 2, 2, 1, 0}, 3},
		// Two tokens, one on each rank: rank 0 holds one; its rows are 1 and 1,
		// not 0 and 1.
		"order/expand-after-localize": {Setting{2, 1, 2, 1, 0}, 2},
		// One token of the only state on each rank: no rank has it whole.
		"partition/commutes-otherwise": {Setting{2, 2, 1, 1, 0}, 2},
		"partition/states-otherwise":   {Setting{2, 2, 1, 1, 0}, 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counterexamples (-want +got):\n%s", diff)
	}
}

// TestWorkersDoNotMatter: verdicts are the same for any number of workers.
func TestWorkersDoNotMatter(t *testing.T) {
	verdicts := func(workers int) (all [][]Verdict) {
		for _, c := range prove(t, Options{Domain: Domain{2, 4, 4, 3, 1000}, Provers: []string{"go"}, Workers: workers}) {
			all = append(all, c.Verdicts)
		}
		return all
	}
	if diff := cmp.Diff(verdicts(1), verdicts(7)); diff != "" {
		t.Error(diff)
	}
}

// TestSolversAgree proves what is quick with both solvers in both theories.
func TestSolversAgree(t *testing.T) {
	for _, name := range Solvers() {
		t.Run(name, func(t *testing.T) {
			needtool.Path(t, name)
			dir := t.TempDir()
			o := Options{Domain: small, Provers: []string{"go", name}, Dir: dir, Solver: Domain{2, 2, 2, 2, 1000}, Theorems: []string{"one-length", "impossible", "slots"}}
			cs, err := Prove(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cs {
				for _, v := range c.Verdicts {
					// What a loaded machine leaves undecided is no fault; a
					// theorem that no query of is decided is.
					if v.Result == Broken || v.Undecided == v.Claims {
						t.Errorf("%s: %s/%s is %s: %s", c.Prover, c.Theorem, v.Part, v.Result, v.Detail)
					}
				}
			}
			if len(cs) != 3*len(o.Theorems) {
				t.Errorf("%d certificates", len(cs))
			}
			// The input proves the same again.
			s, err := findSolver(name)
			if err != nil {
				t.Fatal(err)
			}
			input := readFile(t, filepath.Join(dir, "one-length."+name+"-int.smt2"))
			var expected []string
			for _, line := range strings.Split(input, "\n") {
				if _, status, ok := strings.Cut(line, "; expected: "); ok {
					expected = append(expected, status)
				}
			}
			var got []string
			p := smtProver{s, integers, 10e9}
			if err := p.run(context.Background(), input, len(expected), p.flagsFor(false), func(_ int, a string) { got = append(got, a) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("(-expected +answered):\n%s", diff)
			}
		})
	}
}

// TestCertificates are files that say what was proved.
func TestCertificates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	prove(t, Options{Domain: small, Provers: []string{"go"}, Dir: dir, Theorems: []string{"one-length"}})
	data, err := os.ReadFile(filepath.Join(dir, "one-length.go.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c Certificate
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if c.Theorem != "one-length" || c.Prover != "go" || c.Domain != small || c.Version == "" || len(c.Verdicts) != 1 || c.Verdicts[0].Result != Proved || !c.Holds() || !c.Decided() {
		t.Errorf("%s", data)
	}
}

// TestFalseTheorem: one that is false is broken, with the smallest witness, and
// one that holds where it is to be refuted is broken too.
func TestFalseTheorem(t *testing.T) {
	claims := func(ts *Terms, s Setting, _ Domain) []claim {
		x := ts.Var("L")
		return []claim{{goal: ts.le(ts.Div(x, ts.Int(3)), ts.Int(6))}} // false from 21 on
	}
	one := where(func(s Setting) bool { return s == Setting{1, 1, 1, 1, 0} })
	for _, refuted := range []bool{false, true} {
		p := Part{Name: "p", Refuted: refuted, settings: one, claims: claims}
		f, err := goPart(context.Background(), p, small, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := verdict(p, f); v.Result == Broken == refuted || v.Counterexample == nil || v.Counterexample.Length != 21 {
			t.Errorf("refuted %t: %+v", refuted, v)
		}
		for _, name := range Solvers() {
			s, err := findSolver(name)
			if err != nil {
				continue // TestSolversAgree asks for them
			}
			for _, th := range []theory{integers, vectors32} {
				fs, _, err := smtProver{s, th, 10e9}.prove(context.Background(), Theorem{Name: "t", Parts: []Part{p}}, small, nil)
				if err != nil {
					t.Fatal(err)
				}
				if v := verdict(p, fs[0]); v.Result == Broken == refuted || v.Counterexample == nil || v.Counterexample.Length != 21 {
					t.Errorf("%s-%s, refuted %t: %+v", name, th.name, refuted, v)
				}
			}
		}
	}
	holds := Part{Name: "p", Refuted: true, settings: one, claims: func(ts *Terms, _ Setting, _ Domain) []claim {
		x := ts.Var("L")
		return []claim{{goal: ts.eq(x, x)}}
	}}
	f, err := goPart(context.Background(), holds, small, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := verdict(holds, f); v.Result != Broken {
		t.Errorf("%+v", v)
	}
}

func TestDisagreement(t *testing.T) {
	at := func(w, length int) *Witness { return &Witness{Setting{w, 1, 2, 1, 0}, int64(length)} }
	cert := func(prover string, d Domain, v Verdict) Certificate {
		return Certificate{Theorem: "t", Prover: prover, Domain: d, Verdicts: []Verdict{v}}
	}
	proved, refuted := Verdict{Result: Proved}, func(w *Witness) Verdict { return Verdict{Result: Refuted, Counterexample: w} }
	tiny := Domain{2, 2, 2, 2, 100}
	for _, tc := range []struct {
		name string
		a, b Certificate
		want bool
	}{
		{"both proved", cert("go", small, proved), cert("z3-int", tiny, proved), false},
		{"one refuted", cert("go", small, proved), cert("z3-int", tiny, refuted(at(2, 4))), true},
		{"refuted where the other did not look", cert("go", small, refuted(at(3, 4))), cert("z3-int", tiny, proved), false},
		{"refuted at 3, a value that vectors leave out", cert("go", small, refuted(at(3, 4))), cert("z3-bv32", small, proved), false},
		{"the same witness", cert("go", small, refuted(at(2, 4))), cert("cvc5-int", tiny, refuted(at(2, 4))), false},
		{"another witness", cert("go", small, refuted(at(2, 4))), cert("cvc5-int", tiny, refuted(at(2, 5))), true},
		{"undecided", cert("go", small, refuted(at(2, 4))), cert("cvc5-int", tiny, Verdict{Result: Unknown}), false},
	} {
		err := compare([]Certificate{tc.a, tc.b})
		var d *Disagreement
		if errors.As(err, &d) != tc.want {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestProveErrors(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{Theorems: []string{"fermat"}}, `no theorem is named "fermat"; there are match, one-length`},
		{Options{Provers: []string{"coq"}}, `no prover is named "coq"`},
		{Options{Domain: Domain{World: 0, Interleave: 1, Ratio: 1, NextN: 1, MaxLen: 10}}, "world is 0"},
		{Options{Domain: Domain{World: 1, Interleave: 1 << 20, Ratio: 1, NextN: 1, MaxLen: 10}}, "interleave is 1048576"},
		{Options{Domain: Domain{World: 1, Interleave: 1, Ratio: 1, NextN: 1, MaxLen: 1 << 40}}, "max_len"},
	} {
		if _, err := Prove(context.Background(), tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v; want one with %q", err, tc.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Prove(ctx, Options{Provers: []string{"go"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestMissingSolver names the solver and says what to do.
func TestMissingSolver(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Prove(context.Background(), Options{Provers: []string{"z3"}}); err == nil || !strings.Contains(err.Error(), "z3 is not on PATH") {
		t.Errorf("error %v", err)
	}
	cs, err := Prove(context.Background(), Options{Domain: Domain{1, 1, 2, 2, 10}, Theorems: []string{"one-length"}})
	if err != nil || len(cs) != 1 || cs[0].Prover != "go" {
		t.Errorf("%v, %v", cs, err)
	}
}
