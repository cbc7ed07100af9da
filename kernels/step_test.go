package kernels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mqaproof/model"
)

func stepManifest(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("hip", "steps", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func stepSubject(t *testing.T, name string) *Subject {
	t.Helper()
	s, err := Load(filepath.Join("hip", "steps", name+".yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

func TestStepManifestErrors(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown kind", "kind: uniform", "kind: sideways", `step.kind: "sideways" is not known: [varlen uniform prefill compressed-slots] are`},
		{"logits", "kind: metadata", "kind: logits\nlayouts: [block-flat]", "step: only a metadata kernel has one, this is a logits kernel"},
		{"width", "{kind: uniform}", "{kind: uniform, block_table_width: -1}", "step.block_table_width: -1 is no number of columns"},
		{"width of slots", "{kind: uniform}", "{kind: compressed-slots, block_table_width: 4}", "looks pages up in the case's own block table"},
		{"another step's tensor", "tensor: decode_lens_out", "tensor: row_ends_out", "row_ends_out belongs to metadata kernels with a step of kind [prefill]"},
		{"a tensor without its step", "step: {kind: uniform}\n", "", "decode_seq_lens_out belongs to metadata kernels with a step"},
		{"a table", "tensor: decode_lens_out", "tensor: table_out", "table_out belongs to metadata kernels without a step"},
		{"no output", "_out}", "_in}", `"decode_seq_lens_in" is not known`},
		{"a step's variable in a condition", "wirings:", "limits: {where: step_tokens > 0}\nwirings:", "step_tokens is not known before the tensors are built"},
		{"a step's variable as a constant", "wirings:", "const: {chunk_first: 3}\nwirings:", "chunk_first is a variable already"},
	} {
		text := stepManifest(t, "uniform")
		if !strings.Contains(text, c.old) {
			t.Fatalf("%s: %q is not in the manifest", c.name, c.old)
		}
		_, err := ParseManifest("m.yaml", []byte(strings.ReplaceAll(text, c.old, c.new)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	// Inputs alone are no kernel.
	text := stepManifest(t, "slots")
	if _, err := ParseManifest("m.yaml", []byte(strings.Replace(text, "tensor: compressed_slots_out", "tensor: scratch0", 1))); err == nil ||
		!strings.Contains(err.Error(), "no argument is an output: a compressed-slots kernel writes compressed_slots_out") {
		t.Errorf("got %v", err)
	}
}

// TestStepRun is one step worked out by hand.
func TestStepRun(t *testing.T) {
	c := model.Case{Seed: 3, Data: model.Exact, NextN: 2, Heads: 1, HeadDim: 4, Page: 4, MaxModelLen: 9, Requests: []model.Request{{ID: 1, Context: 9}, {ID: 0, Context: 0}, {ID: 7, Context: 4}}}
	s := stepSubject(t, "uniform")
	in, err := s.Inputs(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), in, RunOptions{})
	if err != nil || len(r.Faults) > 0 || r.Trap != nil {
		t.Fatalf("%v, %+v", err, r)
	}
	want, err := s.Expected(in)
	if err != nil || len(want) != 3 || len(r.Outputs) != 3 {
		t.Fatalf("%v, %d outputs, %d expected", err, len(r.Outputs), len(want))
	}
	for i, o := range r.Outputs {
		values := map[string][]int64{"decode_seq_lens_out": {8, 9, 0, 0, 3, 4}, "decode_lens_out": {1, 1, 1, 1, 1, 1}}[o.Tensor]
		if o.Tensor == "decode_block_table_out" { // pages of 3 columns, two rows a request
			for row := range 6 {
				for col := range in.TableWidth {
					values = append(values, int64(in.BlockTable[row/2*in.TableWidth+col]))
				}
			}
		}
		if o.Tensor != want[i].Tensor {
			t.Fatalf("output %d is %s, expected is %s", i, o.Tensor, want[i].Tensor)
		}
		for k := range o.Values {
			switch written := k < len(values); {
			case o.Written[k] != written || want[i].Written[k] != written:
				t.Errorf("%s[%d]: written %v, expected %v, want %v", o.Tensor, k, o.Written[k], want[i].Written[k], written)
			case written && (o.Values[k] != values[k] || want[i].Values[k] != values[k]):
				t.Errorf("%s[%d] is %d, expected %d, want %d", o.Tensor, k, o.Values[k], want[i].Values[k], values[k])
			}
		}
	}
	// Kernels without a step have none of this.
	for _, s := range builtinNamed(t, "hip/metadata") {
		if o, err := s.Expected(in); o != nil || err != nil {
			t.Errorf("%s: expected %v, %v", s, o, err)
		}
	}
}

func builtinNamed(t *testing.T, name string) []*Subject {
	t.Helper()
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	found, err := Match(name, all)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRig(t *testing.T) {
	s := stepSubject(t, "slots")
	sizes := map[string]int{"query_start_loc": 3, "seq_lens": 2, "block_table": 2, "slot_mapping": 6, "compressed_slots_out": 6}
	g, err := s.NewRig(sizes)
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]int{"batch": 2, "table_width": 1, "page": 8, "world": 1, "interleave": 1, "ratio": 2}
	for run, lengths := range [][]int32{{4, 2}, {6, 3}} { // the second run forgets the first
		for _, err := range []error{g.Write("seq_lens", lengths), g.Write("query_start_loc", []int32{0, 2, 4}), g.Write("block_table", []int32{5, 9}),
			g.WriteWide("slot_mapping", []int64{7, 7, 7, -1}), g.Write("no such tensor", nil)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		r, err := g.Run(t.Context(), vars, RunOptions{Workers: 1})
		if err != nil || len(r.Faults) > 0 || r.Trap != nil || r.Instructions == 0 {
			t.Fatalf("%v, %+v", err, r)
		}
		words, written := g.Words("compressed_slots_out")
		// Run 0: positions 2, 3 and 0, 1; states 1 and 0, the last without a slot.
		// Run 1: positions 4, 5 and 1, 2; states 2 and 0.
		want := [][]int64{{-1, 41, -1, -1}, {-1, 42, 72, -1}}[run]
		for i := range 6 {
			got := int64(uint64(words[2*i]) | uint64(words[2*i+1])<<32)
			if written[2*i] != (i < 4) || i < 4 && got != want[i] {
				t.Errorf("run %d: slot %d is %d (written %v), want %v", run, i, got, written[2*i], want)
			}
		}
	}
	if w, _ := g.Words("row_ends_out"); w != nil || s.Uses("row_ends_out") || !s.Uses("slot_mapping") {
		t.Error("a tensor that the kernel does not have")
	}

	for _, c := range []struct {
		err  error
		want string
	}{
		{g.Write("slot_mapping", nil), "slot_mapping is no input of 4 bytes an element"},
		{g.WriteWide("compressed_slots_out", nil), "compressed_slots_out is no input of 8 bytes an element"},
		{g.Write("seq_lens", make([]int32, 3)), "do not fit"},
		{second(s.NewRig(map[string]int{"seq_lens": 2})), "tensor block_table has no size: sizes are given for seq_lens"},
		{second(builtinNamed(t, "hip/naive")[0].NewRig(nil)), "only a metadata kernel runs on made-up tensors"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
}

func second(_ *Rig, err error) error { return err }
