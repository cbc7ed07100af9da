package calibrate

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/model/matrixcore"
)

var choose = flag.Int("choose", 0, "search for tiles that tell apart what so many random rules leave together, and print their seeds")
var chooseFor = flag.String("choose-for", "", "the one target to search for; default all")

// TestChooseTiles is how the seeds of seeds.go were found: for random rules, it
// looks for rules that fit all outputs but are not the same, and for a tile that
// tells them apart.
func TestChooseTiles(t *testing.T) {
	if *choose == 0 {
		t.Skip("a search, not a test: see -choose")
	}
	for _, target := range Targets() {
		if *chooseFor != "" && *chooseFor != string(target) {
			continue
		}
		in := target.Instructions()[0]
		if target == GFX950 {
			in = target.Instructions()[2]
		}
		rng := rand.New(rand.NewPCG(uint64(*choose), 7))
		all := shapes(target)
		var seeds []uint64
		next := uint64(1 << 20)
		var extra []Tile
		for n := range *choose {
			s, c := randomRule(rng, all)
			s.order = InOrder
			r := s.rule(c)
			outputs := outputsOf(t, target, &r)
			for _, tile := range extra {
				outputs = append(outputs, outputsOfTile(in, &r, tile, 0)...)
			}
			fits, _, err := search(t.Context(), all, inOrder(outputs))
			if err != nil {
				t.Fatal(err)
			}
			var others []matrixcore.Rule
			for _, f := range fits {
				if f.shape.order != InOrder {
					continue
				}
				for i := range f.boxes {
					others = append(others, f.shape.rule(f.boxes[i].first()))
					for range 3 {
						others = append(others, f.shape.rule(randomMember(rng, f.boxes[i])))
					}
				}
			}
			found := 0
			for range 300 {
				tile := in.chosen(next)
				next++
				if tellsApart(in, tile, &r, others) {
					seeds, extra = append(seeds, next-1), append(extra, tile)
					found++
				}
			}
			t.Logf("%s rule %d: %d others, %d tiles found, %d in all", target, n, len(others), found, len(seeds))
		}
		t.Logf("%s: seeds %#v", target, seeds)
	}
}

// tellsApart reports whether the tile's outputs by r and by one of the others
// differ, and drops those others from then on.
func tellsApart(in Instruction, tile Tile, r *matrixcore.Rule, others []matrixcore.Rule) bool {
	n := in.N * in.N
	want, got := make([]float32, n), make([]float32, n)
	r.MulAdd(in.Format, in.Format, in.N, in.N, in.K, tile.A, tile.B, tile.C, want)
	differ := false
	for i := range others {
		o := &others[i]
		if o.Group == 0 {
			continue
		}
		o.MulAdd(in.Format, in.Format, in.N, in.N, in.K, tile.A, tile.B, tile.C, got)
		for j := range got {
			if !same(math.Float32bits(got[j]), math.Float32bits(want[j])) {
				*o = matrixcore.Rule{}
				differ = true
				break
			}
		}
	}
	return differ
}
