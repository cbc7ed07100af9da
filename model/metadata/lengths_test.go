package metadata

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLocalizeCounts: the formula counts the positions below x that live on
// the rank.
func TestLocalizeCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.Int32Range(1, 9).Draw(t, "world")
		rank := rapid.Int32Range(0, world-1).Draw(t, "rank")
		interleave := rapid.Int32Range(1, 20).Draw(t, "interleave")
		x := rapid.Int32Range(0, 600).Draw(t, "x")
		want := int32(0)
		for p := range x {
			if p/interleave%world == rank {
				want++
			}
		}
		if got := Localize(Int32{}, x, world, rank, interleave); got != want {
			t.Fatalf("%d positions, counted %d", got, want)
		}
	})
}

// TestExpandThenLocalize is the order that vLLM's builder documents: world 2,
// rank 1, interleave 1, a request of 10 tokens and three query tokens.
func TestExpandThenLocalize(t *testing.T) {
	var right, wrong []int32
	for j := range int32(3) {
		right = append(right, Localize(Int32{}, Expand(Int32{}, 10, 3, j), 2, 1, 1))
		wrong = append(wrong, Expand(Int32{}, Localize(Int32{}, 10, 2, 1, 1), 3, j))
	}
	if diff := cmp.Diff([]int32{4, 4, 5}, right); diff != "" {
		t.Errorf("expand, then localize:\n%s", diff)
	}
	if diff := cmp.Diff([]int32{3, 4, 5}, wrong); diff != "" {
		t.Errorf("localize, then expand (the fault):\n%s", diff)
	}
}

// TestExpandFromIsExpand: where no clamp bites, both give the same.
func TestExpandFromIsExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int32Range(1, 8).Draw(t, "n")
		length := rapid.Int32Range(n, 1<<24).Draw(t, "length")
		start := rapid.Int32Range(0, 8192).Draw(t, "start")
		for j := range n {
			if a, b := Expand(Int32{}, length, n, j), ExpandFrom(Int32{}, length, n, start, start+j); a != b {
				t.Fatalf("token %d: %d and %d", j, a, b)
			}
		}
	})
}

// bigInts is arithmetic without a width, a second instance of Arith.
type bigInts struct{}

func (bigInts) Int(v int) *big.Int         { return big.NewInt(int64(v)) }
func (bigInts) Add(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
func (bigInts) Sub(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
func (bigInts) Mul(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
func (bigInts) Div(a, b *big.Int) *big.Int {
	return new(big.Int).Div(a, b) // Euclidean; floor for b > 0
}
func (bigInts) Min(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}
func (bigInts) Max(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// TestInt32DoesNotWrap: up to the lengths that vLLM can serve, 32 bits give
// what unbounded integers give.
func TestInt32DoesNotWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int32, name string) (int32, *big.Int) {
			v := rapid.Int32Range(lo, hi).Draw(t, name)
			return v, big.NewInt(int64(v))
		}
		length, bigLength := draw(0, 1<<28, "length")
		n, bigN := draw(1, 8, "n")
		j, bigJ := draw(0, n-1, "j")
		world, bigWorld := draw(1, 1<<10, "world")
		rank, bigRank := draw(0, world-1, "rank")
		interleave, bigInterleave := draw(1, 1<<20, "interleave")
		ratio, bigRatio := draw(1, 128, "ratio")
		got := Compress(Int32{}, Localize(Int32{}, Expand(Int32{}, length, n, j), world, rank, interleave), ratio)
		want := Compress(bigInts{}, Localize(bigInts{}, Expand(bigInts{}, bigLength, bigN, bigJ), bigWorld, bigRank, bigInterleave), bigRatio)
		if want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("int32 %d, unbounded %s", got, want)
		}
	})
}

func TestDiv(t *testing.T) {
	for _, tc := range []struct{ a, b, floor, trunc int32 }{
		{7, 2, 3, 3}, {-7, 2, -4, -3}, {-8, 2, -4, -4}, {0, 5, 0, 0}, {-1, 4, -1, 0}, {1, 4, 0, 0},
	} {
		if got := (Int32{}).Div(tc.a, tc.b); got != tc.floor {
			t.Errorf("tensor: %d / %d = %d, want %d", tc.a, tc.b, got, tc.floor)
		}
		if got := (Int32Device{}).Div(tc.a, tc.b); got != tc.trunc {
			t.Errorf("device: %d / %d = %d, want %d", tc.a, tc.b, got, tc.trunc)
		}
	}
}
