package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlans checks which kernels a request leads to; those with a reason
// against them are marked.
func TestPlans(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Request
		want string
	}{
		{"released", Request{Package: "amd-aiter"},
			"plain-h64-d128 stage1-h64-d128 ragged-h64-d128 stage1-ragged-h64-d128"},
		{"small, other chunks", Request{Package: "amd-aiter", Heads: []int{32, 16, 32}, HeadDim: []int{64}, ChunkK: []int{32}, SplitKV: []int{5, 2}, Target: gfx950},
			"plain-h16-d64-k32-s2-gfx950 plain-h16-d64-k32-gfx950 plain-h32-d64-k32-s2-gfx950 plain-h32-d64-k32-gfx950 " +
				"stage1-h16-d64-k32-s2-gfx950 stage1-h16-d64-k32-gfx950 stage1-h32-d64-k32-s2-gfx950 stage1-h32-d64-k32-gfx950 " +
				"ragged-h16-d64-k32-s2-gfx950 ragged-h16-d64-k32-gfx950 ragged-h32-d64-k32-s2-gfx950 ragged-h32-d64-k32-gfx950 " +
				"stage1-ragged-h16-d64-k32-s2-gfx950 stage1-ragged-h16-d64-k32-gfx950 stage1-ragged-h32-d64-k32-s2-gfx950 stage1-ragged-h32-d64-k32-gfx950"},
		{"released has tokens", Request{Package: "amd-aiter", Page: []int{64}},
			"plain-h64-d128! stage1-h64-d128! ragged-h64-d128! stage1-ragged-h64-d128!"},
		{"checkout", Request{Package: "aiter", Path: "x"},
			"plain-h64-d128 plain-h64-d128-p64 stage1-h64-d128 stage1-h64-d128-p64 ragged-h64-d128 stage1-ragged-h64-d128 " +
				"gluon-plain-h64-d128 gluon-preshuffle-h64-d128-p16 gluon-preshuffle-h64-d128-p64"},
		{"checkout, head_dim 64", Request{Package: "aiter", Path: "x", HeadDim: []int{64}, Page: []int{16}},
			"plain-h64-d64-p16 stage1-h64-d64-p16 ragged-h64-d64! stage1-ragged-h64-d64! gluon-preshuffle-h64-d64-p16!"},
		{"checkout, odd pages", Request{Package: "aiter", Path: "x", Page: []int{8, 256}},
			"plain-h64-d128-p8 plain-h64-d128-p256 stage1-h64-d128-p8 stage1-h64-d128-p256 ragged-h64-d128! ragged-h64-d128! " +
				"stage1-ragged-h64-d128! stage1-ragged-h64-d128! gluon-preshuffle-h64-d128-p8! gluon-preshuffle-h64-d128-p256!"},
		{"checkout, small heads and chunks", Request{Package: "aiter", Path: "x", Heads: []int{16, 32}, ChunkK: []int{64}, Page: []int{1, 16}},
			"plain-h16-d128-k64 plain-h16-d128-p16-k64 plain-h32-d128-k64 plain-h32-d128-p16-k64 " +
				"stage1-h16-d128-k64 stage1-h16-d128-p16-k64 stage1-h32-d128-k64 stage1-h32-d128-p16-k64 " +
				"ragged-h16-d128 ragged-h16-d128! ragged-h32-d128 ragged-h32-d128! " +
				"stage1-ragged-h16-d128 stage1-ragged-h16-d128! stage1-ragged-h32-d128 stage1-ragged-h32-d128! " +
				"gluon-plain-h16-d128-k64! gluon-plain-h32-d128-k64 gluon-preshuffle-h16-d128-p16-k64! gluon-preshuffle-h32-d128-p16-k64!"},
		{"vllm", Request{Package: "vllm"},
			"block-flat-h64-d128-p64-n1 block-flat-h64-d128-p64-n2 block-flat-request-h64-d128-p64-n2 block-flat-h64-d128-p64-n3 block-flat-request-h64-d128-p64-n3 " +
				"decode-metadata-w20 decode-metadata-w64 uniform-decode-n1 uniform-decode prefill-chunk-r1 prefill-chunk-dcp-r1 " +
				"prefill-chunk-r2 prefill-chunk-dcp-r2 compressed-slots-r2 compressed-slots-dcp-r2 " +
				"prefill-chunk-r4 prefill-chunk-dcp-r4 compressed-slots-r4 compressed-slots-dcp-r4 " +
				"prefill-chunk-r128 prefill-chunk-dcp-r128 compressed-slots-r128 compressed-slots-dcp-r128"},
		{"vllm, small page", Request{Package: "vllm", Page: []int{16}, NextN: []int{1}, Ratio: []int{1}, BlockTableWidth: []int{8}, Target: gfx950},
			"block-flat-h64-d128-p16-n1-gfx950! decode-metadata-w8-gfx950 uniform-decode-n1-gfx950 uniform-decode-gfx950 prefill-chunk-r1-gfx950 prefill-chunk-dcp-r1-gfx950"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.r.CacheDir = t.TempDir()
			r, p, err := c.r.normalise()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			seen := map[string]bool{}
			for _, plan := range p.plans(r) {
				name := strings.TrimPrefix(plan.Name, p.name+"/")
				if plan.Problem != "" {
					name += "!"
				} else if seen[name] {
					t.Errorf("%s is planned twice", name)
				}
				seen[name] = true
				got = append(got, name)
			}
			if d := cmp.Diff(strings.Fields(c.want), got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestAttrs checks the hints against what Triton's launcher gives for such
// arguments.
func TestAttrs(t *testing.T) {
	const aligned, short = "[tt.divisibility 16]", "[tt.pointer_range 32]"
	for _, c := range []struct{ plan, param, want string }{
		{"amd-aiter/plain-h64-d128", "batch_size", ""},
		{"amd-aiter/plain-h64-d128", "next_n", ""},
		{"amd-aiter/plain-h64-d128", "heads_num", aligned},
		{"amd-aiter/plain-h64-d128", "Q_buffer", aligned + short},
		{"amd-aiter/plain-h64-d128", "KV_buffer", aligned + short},
		{"amd-aiter/plain-h64-d128", "stride_k_seq", ""}, // 132
		{"amd-aiter/plain-h64-d128", "stride_scale_seq", ""},
		{"amd-aiter/plain-h64-d128", "scale_buffer", aligned + short},
		{"amd-aiter/plain-h64-d128", "max_model_len", aligned},
		{"amd-aiter/plain-h64-d128", "max_blk_len", ""},
		{"aiter/gluon-plain-h64-d128", "KV_buffer", ""},
		{"aiter/gluon-plain-h64-d128", "scale_buffer", ""},
		{"aiter/gluon-plain-h64-d128", "context_len_ptr", short},
		{"aiter/gluon-plain-h64-d128", "OutLogits_buffer", ""},
		{"aiter/gluon-plain-h64-d128", "stride_out_batch", ""},
		{"aiter/gluon-preshuffle-h64-d128-p16", "KV_buffer", aligned},
		{"aiter/gluon-preshuffle-h64-d128-p16", "stride_k_seq", aligned},     // 2112
		{"aiter/gluon-preshuffle-h64-d128-p16", "stride_scale_seq", aligned}, // 528
		{"vllm/block-flat-h64-d128-p64-n1", "stride_kvblk_fp8", aligned},     // 8448
		{"vllm/block-flat-h64-d128-p64-n1", "stride_logits_row", ""},
		{"vllm/block-flat-h64-d128-p64-n1", "logits_ptr", aligned + short},
		{"vllm/decode-metadata-w20", "num_reqs", ""},
		{"vllm/decode-metadata-w20", "block_table", aligned + short},
		{"vllm/prefill-chunk-r4", "uncompressed_seq_lens_ptr", short}, // a chunk starts anywhere
		{"vllm/prefill-chunk-r4", "query_start_loc_ptr", aligned + short},
		{"vllm/compressed-slots-r4", "slot_mapping_ptr", aligned + short},
	} {
		p := planNamed(t, Request{}, c.plan)
		got := ""
		for _, a := range p.Params[c.param].attrs() {
			got += fmt.Sprint(a)
		}
		if got != c.want {
			t.Errorf("%s %s: hints %q, want %q", c.plan, c.param, got, c.want)
		}
	}
}

func TestRequestErrors(t *testing.T) {
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Package: "torch"}, `no package "torch" to import: amd-aiter, vllm, aiter are known`},
		{Request{Package: "aiter"}, "aiter is a source checkout: say where it lies (--path)"},
		{Request{Package: "vllm", Target: "sm_90"}, `target "sm_90": kernels can be imported for gfx942 and gfx950`},
		{Request{Package: "vllm", Heads: []int{48}}, "heads is 48: kernels are compiled for a power of two from 1 to 128"},
		{Request{Package: "vllm", Page: []int{0}}, "page is 0: kernels are compiled for a power of two from 1 to 1024"},
		{Request{Package: "vllm", NextN: []int{9}}, "next_n is 9: kernels are compiled for from 1 to 8"},
		{Request{Package: "vllm", Ratio: []int{0}}, "ratio is 0: kernels are compiled for from 1 to 4096"},
		{Request{Package: "vllm", BlockTableWidth: []int{1 << 15}}, "block table width is 32768: kernels are compiled for from 1 to 16384"},
		{Request{Package: "vllm", SplitKV: []int{-1}}, "SplitKV is -1: kernels are compiled for from 1 to 1024"},
	} {
		if _, err := Import(t.Context(), c.r, nil); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.r, err, c.want)
		}
	}
}
