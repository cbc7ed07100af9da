package proof

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// draw is a random term over x of the kinds that the tables know.
func draw(t *rapid.T, ts *Terms, x *Term, depth int) *Term {
	if depth == 0 {
		return rapid.SampledFrom([]*Term{x, x, ts.Int(rapid.IntRange(-9, 9).Draw(t, "c"))}).Draw(t, "leaf")
	}
	a := draw(t, ts, x, depth-1)
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return ts.Add(a, draw(t, ts, x, depth-1))
	case 1:
		return ts.Sub(a, draw(t, ts, x, depth-1))
	case 2:
		return ts.Mul(a, ts.Int(rapid.IntRange(-3, 3).Draw(t, "factor")))
	case 3:
		return ts.Div(a, ts.Int(rapid.IntRange(1, 5).Draw(t, "divisor")))
	case 4:
		return Device{ts}.Div(a, ts.Int(rapid.IntRange(1, 5).Draw(t, "divisor")))
	case 5:
		return ts.Min(a, draw(t, ts, x, depth-1))
	case 6:
		return ts.Max(a, draw(t, ts, x, depth-1))
	case 7:
		return ts.choose(ts.le(a, draw(t, ts, x, depth-1)), ts.Int(2), ts.Int(-1))
	case 8:
		b := draw(t, ts, x, depth-1)
		return ts.choose(ts.or(ts.not(ts.eq(a, b)), ts.and(ts.le(a, b), ts.le(b, a))), ts.Int(1), ts.Int(0))
	}
	return ts.counted(Rule{2, 1, 2, 1}, ts.Max(ts.Int(0), ts.Add(x, ts.Int(rapid.IntRange(-5, 5).Draw(t, "shift")))))
}

// TestTables: a term's table gives, at every length, what plain evaluation
// gives, far beyond the lengths that the table lists.
func TestTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ts := &Terms{}
		term := draw(t, ts, ts.Var("x"), 3)
		lo := rapid.Int64Range(-40, 10).Draw(t, "lo")
		var tb tables
		tb.reset(ts, lo)
		f, err := tb.eval(term)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(200) {
			for _, x := range []int64{lo + i, lo + int64(len(f.pre)) + 3*int64(len(f.per)) - 100 + i} {
				if x >= lo && x < 4000 && f.at(x-lo) != value(term, x) {
					t.Fatalf("at %d: table %d, value %d", x, f.at(x-lo), value(term, x))
				}
			}
		}
		hi := lo + rapid.Int64Range(0, 300).Draw(t, "hi")
		least, largest, leastAt, largestAt, err := tb.extremes(term, hi)
		if err != nil {
			t.Fatal(err)
		}
		for x := lo; x <= hi; x++ {
			if v := value(term, x); v < least || v > largest {
				t.Fatalf("%d at %d is outside %d to %d", v, x, least, largest)
			}
		}
		if value(term, leastAt) != least || value(term, largestAt) != largest || leastAt > hi || largestAt > hi {
			t.Fatal("an extreme is not where it is said to be")
		}
	})
}

// TestOneVariable: a term over two lengths is refused, not guessed at.
func TestOneVariable(t *testing.T) {
	ts := &Terms{}
	sum := ts.Add(ts.Var("a"), ts.Var("b"))
	var tb tables
	tb.reset(ts, 0)
	if _, err := tb.eval(sum); err != errVariables {
		t.Errorf("error %v", err)
	}
	ts.reset()
	square := ts.Var("a")
	square = ts.Mul(square, square)
	tb.reset(ts, 0)
	if _, err := tb.eval(square); err == nil {
		t.Error("a square is not quasi-periodic")
	}
}

func ExampleSetting_String() {
	fmt.Println(Setting{World: 2, Ratio: 4, NextN: 3, Interleave: 8, Rank: 1})
	// Output: W=2 R=1 I=8 r=4 n=3
}
