package importer

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mqaproof/kernels"
	"mqaproof/sim/codeobject"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden manifests anew")

// names of the functions' parameters, as the versions that were looked at have
// them; ":i64" where the source asks for 64 bits.
const (
	releasedHead = "batch_size next_n heads_num Q_buffer stride_q_batch stride_q_next_n stride_q_heads KV_buffer stride_k_seq scale_buffer stride_scale_seq"
	pagedHead    = "batch_size next_n heads_num Q_buffer stride_q_batch:i64 stride_q_next_n:i64 stride_q_heads:i64 KV_buffer stride_k_block:i64 stride_k_token:i64 scale_buffer stride_scale_block:i64 stride_scale_token:i64"
	vllmNames    = "q_ptr kv_val_ptr kv_scale_ptr weights_ptr ctx_lens_ptr block_tables_ptr logits_ptr stride_q_b stride_q_n stride_q_h stride_w_row stride_kvblk_fp8 stride_kvblk_f32 scale_region_off stride_bt_b stride_logits_row max_blocks max_model_len"
)

// TestManifests holds the manifests against files that a person has read.
func TestManifests(t *testing.T) {
	for _, c := range []struct {
		plan   string
		params string
		bounds []string
		reads  []string
	}{
		{"amd-aiter/plain-h64-d128", releasedHead + " context_len_ptr kv_indices weights stride_w_batch OutLogits_buffer stride_out_batch max_model_len max_blk_len",
			[]string{"context_length - pid_next_n"}, nil},
		{"amd-aiter/stage1-ragged-h64-d128", releasedHead + " prefix_sum_context_lens kv_indices weights stride_w_batch Out_buffer stride_out_heads stride_out_batch max_model_len",
			[]string{"context_length - pid_next_n"}, nil},
		{"aiter/stage1-h64-d128-p64", pagedHead + " context_len_ptr kv_indices weights stride_w_batch:i64 Out_buffer stride_out_heads:i64 stride_out_batch:i64 max_model_len max_blk_len",
			[]string{"context_length - next_n + pid_next_n"}, nil},
		{"aiter/gluon-plain-h64-d128", releasedHead + " context_len_ptr kv_indices weights stride_w_batch OutLogits_buffer stride_out_batch:i64 max_model_len max_block_len num_block SplitKV",
			[]string{"0", "context_length - next_n + pid_next_n"}, nil},
		{"aiter/gluon-preshuffle-h64-d128-p16", releasedHead + " context_len_ptr kv_indices weights stride_w_batch OutLogits_buffer stride_out_batch:i64 max_model_len max_block_len num_block SplitKV",
			[]string{"0", "context_length - next_n + pid_next_n"}, []string{"max_model_len"}},
		{"vllm/block-flat-h64-d128-p64-n3", vllmNames, nil, []string{"max_model_len"}},
		{"vllm/block-flat-request-h64-d128-p64-n3", vllmNames, nil, []string{"max_model_len"}},
		{"vllm/decode-metadata-w20", "query_start_loc seq_lens block_table output_seq_lens output_block_table decode_lens indices per_req_lens num_reqs num_tokens capacity input_stride output_stride", nil, nil},
		{"vllm/uniform-decode-n1", "seq_lens_ptr decode_seq_lens_ptr block_table_ptr block_table_stride expanded_block_table_ptr expanded_bt_stride decode_lens_ptr", nil, nil},
		{"vllm/prefill-chunk-dcp-r4", "query_start_loc_ptr uncompressed_seq_lens_ptr cu_compressed_seq_lens_ptr row_start_cu_compressed_seq_lens_ptr token_to_seq_ptr " +
			"cu_compressed_seq_len_ks_ptr cu_compressed_seq_len_ke_ptr query_slice_start query_slice_stop DCP_RANK DCP_WORLD DCP_INTERLEAVE", nil, nil},
		{"vllm/compressed-slots-r4", "compressed_slot_mapping_ptr slot_mapping_ptr query_start_loc_ptr seq_lens_ptr block_table_ptr block_table_stride block_size", nil, nil},
	} {
		t.Run(strings.ReplaceAll(c.plan, "/", "."), func(t *testing.T) {
			p := planNamed(t, Request{}, c.plan)
			made := &compiled{Kernel: p.Function, Shared: 8192, Bounds: c.bounds, Reads: c.reads}
			k := &codeobject.Kernel{Name: p.Function}
			for f := range strings.FieldsSeq(c.params) {
				name, typ, wide := strings.Cut(f, ":")
				prm, ok := p.Params[name]
				if !ok {
					t.Fatalf("parameter %s is not known", name)
				}
				if !wide {
					typ = strings.Replace(prm.tritonType(p.Target), "int", "i32", 1)
				}
				made.Arguments = append(made.Arguments, argument{name, typ})
				size := uint32(4)
				if prm.Tensor != "" || typ == "i64" {
					size = 8
				}
				k.Args = append(k.Args, codeobject.Arg{Size: size, ValueKind: "by_value"})
			}
			k.Args = append(k.Args, codeobject.Arg{Size: 8, ValueKind: "global_buffer"}, codeobject.Arg{Size: 8, ValueKind: "global_buffer"},
				codeobject.Arg{Size: 4, ValueKind: "hidden_block_count_x"})

			m, err := p.describe(made, k, "A sentence.", "kernel.hsaco")
			if err != nil {
				t.Fatal(err)
			}
			got, err := encode(m)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "manifests", strings.ReplaceAll(c.plan, "/", ".")+".yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("manifest differs (-want +got); -update writes it anew:\n%s", d)
			}
			if _, err := kernels.ParseManifest("golden", got); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDescribeRefuses checks that a code object which does not take what the
// function leaves is not described.
func TestDescribeRefuses(t *testing.T) {
	p := planNamed(t, Request{}, "amd-aiter/plain-h64-d128")
	pointer, word := codeobject.Arg{Size: 8, ValueKind: "global_buffer"}, codeobject.Arg{Size: 4, ValueKind: "by_value"}
	for _, c := range []struct {
		name string
		left []argument
		have []codeobject.Arg
		want string
	}{
		{"fewer", []argument{{"batch_size", "i32"}, {"next_n", "i32"}}, []codeobject.Arg{word}, "takes 1 arguments, the function leaves 2"},
		{"size", []argument{{"Q_buffer", "*fp8e4b8"}}, []codeobject.Arg{word}, "argument Q_buffer has 4 bytes"},
		{"unknown", []argument{{"novelty", "i32"}}, []codeobject.Arg{word}, "parameter novelty has no value"},
		{"value behind", []argument{{"Q_buffer", "*fp8e4b8"}}, []codeobject.Arg{pointer, word}, "an argument of kind by_value that the function does not have"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.describe(&compiled{Arguments: c.left}, &codeobject.Kernel{Args: c.have}, "", "k.hsaco")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// planNamed is the plan of that name among those of a request.
func planNamed(t *testing.T, r Request, name string) *plan {
	t.Helper()
	r.Package, _, _ = strings.Cut(name, "/")
	r.Path, r.CacheDir = "somewhere", t.TempDir()
	r, pkg, err := r.normalise()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pkg.plans(r) {
		if p.Name == name {
			return p
		}
		names = append(names, p.Name)
	}
	t.Fatalf("no plan %s: there are %s", name, strings.Join(names, ", "))
	return nil
}
