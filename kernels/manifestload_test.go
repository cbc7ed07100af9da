package kernels

import (
	"strings"
	"testing"
)

// small is a whole manifest; the tests change one line of it.
const small = `name: test/small
about: a kernel for tests
kind: logits
code_objects:
  gfx942: small.hsaco
layouts: [block-flat]
reads: pages
tile: chunk
const:
  splits: cdiv(max_model_len, chunk)
  chunk: 2 * page
  wide: table_width * 2
limits:
  heads: [16, 64]
  page: [1, 64]
  where: splits < 100
wirings:
  last-column: {where: world == 1}
  table: {fault: B01, property: mask}
launches:
  - kernel: small
    grid: [rows * splits, 1]
    block: [256]
    lds: 4 * heads
    args:
      - {name: q, tensor: q}
      - {name: scales, tensor: cache, offset: page * head_dim}
      - {name: lengths, tensor: lengths}
      - {name: out, tensor: logits}
      - {name: stride, type: i32, value: wide}
      - {name: factor, type: f32, value: 0.5}
      - {name: nothing, type: ptr}
`

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "test/small" || m.Kind != Logits || len(m.Launches) != 1 || len(m.Launches[0].Args) != 7 {
		t.Errorf("read %+v", m)
	}
	if got := m.Wirings["table"]; got.Fault != "B01" || got.Property != "mask" {
		t.Errorf("wiring table is %+v", got)
	}
	if got := m.Launches[0].Grid; len(got) != 2 || got[1] != "1" {
		t.Errorf("grid is %q: a number must read as its own expression", got)
	}
}

func TestParseManifestErrors(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           string // all of one line of the error
	}{
		{"unknown key", "about:", "abuot:", `small.yaml:2: unknown field "abuot"`},
		{"unknown key of an argument", "{name: q, tensor: q}", "{name: q, tensr: q}", `small.yaml:26: unknown field "tensr"`},
		{"repeated key", "reads: pages", "kind: logits", `small.yaml:7: mapping key "kind" already defined at [3:1]`},
		{"not YAML", "const:", "const: {", `small.yaml:`},
		{"no name", "name: test/small", "name: \"\"", `small.yaml:1: name: "" is not a name: use small letters, digits and . _ - with / between parts, as in hip/naive`},
		{"bad name", "name: test/small", "name: Test Small", `small.yaml:1: name: "Test Small" is not a name: use small letters, digits and . _ - with / between parts, as in hip/naive`},
		{"bad kind", "kind: logits", "kind: attention", `small.yaml:3: kind: "attention" is not known: logits and metadata are`},
		{"bad target", "gfx942: small", "gfx1100: small", `small.yaml:5: code_objects.gfx1100: target "gfx1100" is not supported: gfx942 and gfx950 are`},
		{"file elsewhere", "small.hsaco", "../small.hsaco", `small.yaml:5: code_objects.gfx942: "../small.hsaco": give a file below the manifest's own folder`},
		{"bad fp8", "reads: pages", "fp8: e5m2", `small.yaml:7: fp8: "e5m2" is not an fp8 format: e4m3fn and e4m3fnuz are`},
		{"no layout", "layouts: [block-flat]", "layouts: []", `small.yaml:6: layouts: missing: list at least one of block-flat, interleaved, preshuffled`},
		{"bad layout", "[block-flat]", "[block-flat, flat]", `small.yaml:6: layouts[1]: "flat" is not known: block-flat, interleaved and preshuffled are`},
		{"bad reads", "reads: pages", "reads: all", `small.yaml:7: reads: "all" is not known: tokens and pages are`},
		{"tile of a wrong type", "tile: chunk", "tile: chunk > 1", `small.yaml:8: tile: "chunk > 1" gives bool, want an integer`},
		{"constant named like a variable", "  chunk: 2", "  page: 2", `small.yaml:11: const.page: page is a variable already: choose another name`},
		{"constant named like a function", "  wide:", "  min:", `small.yaml:12: const.min: min is a function: choose another name`},
		{"constant with a bad name", "  wide:", "  1wide:", `small.yaml:12: const.1wide: "1wide" is not a name: use letters, digits and _`},
		{"constants in a circle", "chunk: 2 * page", "chunk: 2 * splits", `small.yaml:11: const.chunk: "2 * splits": unknown name splits: there are`},
		{"unknown name", "value: wide", "value: widht", `small.yaml:30: launches[0].args[4].value: "widht": unknown name widht: there are batch, next_n,`},
		{"syntax", "value: wide", "value: wide *", `small.yaml:30: launches[0].args[4].value: "wide *" at column`},
		{"a float for an integer", "value: wide", "value: wide * 0.5", `small.yaml:30: launches[0].args[4].value: "wide * 0.5" gives float64, want an integer`},
		{"an integer for a condition", "where: splits < 100", "where: splits", `small.yaml:16: limits.where: "splits" gives int, want a bool`},
		{"a condition over tensors", "where: splits < 100", "where: pages < 100", `small.yaml:16: limits.where: "pages < 100": pages is not known before the tensors are built: a condition cannot use it`},
		{"a condition over a constant over tensors", "where: world == 1", "where: wide == 1", `small.yaml:18: wirings.last-column.where: "wide == 1": wide depends on the tensors (pages, table_width, max_context, step_tokens, step_capacity, chunk_first, chunk_requests, chunk_start, chunk_end): a condition cannot use it`},
		{"too few operands", "cdiv(max_model_len, chunk)", "cdiv(max_model_len)", `small.yaml:10: const.splits: "cdiv(max_model_len)" at column 1: not enough arguments to call cdiv`},
		{"a limit below 1", "heads: [16, 64]", "heads: [16, 0]", `small.yaml:14: limits.heads[1]: 0 is not a size: it must be positive`},
		{"unknown wiring", "table: {", "tabel: {", `small.yaml:19: wirings.tabel: unknown wiring: a logits kernel has table, last-column, per-row`},
		{"bad fault id", "fault: B01", "fault: mask", `small.yaml:19: wirings.table.fault: "mask" is not a fault id such as B01`},
		{"fault without property", ", property: mask", "", `small.yaml:19: wirings.table: fault and property go together: the id of the fault, and the property that it breaks`},
		{"no kernel", "kernel: small", "kernel: ''", `small.yaml:21: launches[0].kernel: missing: give the kernel's symbol`},
		{"too many dimensions", "block: [256]", "block: [1, 1, 1, 1]", `small.yaml:23: launches[0].block: has 4 dimensions, want 1 to 3`},
		{"empty expression", "block: [256]", "block: ['']", `small.yaml:23: launches[0].block[0]: is empty: give an integer`},
		{"unknown tensor", "tensor: cache", "tensor: kache", `small.yaml:27: launches[0].args[1].tensor: "kache" is not known: q, weights, cache,`},
		{"tensor of another kind", "tensor: cache", "tensor: table_out", `small.yaml:27: launches[0].args[1].tensor: table_out belongs to metadata kernels, this is a logits kernel`},
		{"tensor with a value", "{name: q, tensor: q}", "{name: q, tensor: q, value: 1}", `small.yaml:26: launches[0].args[0]: argument q is a tensor: it has no type and no value`},
		{"offset without tensor", "{name: q, tensor: q}", "{name: q, offset: 1}", `small.yaml:26: launches[0].args[0]: argument q has an offset but no tensor`},
		{"a value for a null pointer", "type: ptr", "type: ptr, value: 1", `small.yaml:32: launches[0].args[6]: argument nothing is a null pointer (type ptr): it has no value`},
		{"neither tensor nor value", ", type: ptr", "", `small.yaml:32: launches[0].args[6]: argument nothing: give a tensor, or a type and a value`},
		{"unknown type", "type: f32", "type: f64", `small.yaml:31: launches[0].args[5].type: "f64" is not known: i32, i64, u32, u64, f32 and ptr are`},
		{"no argument name", "{name: q, tensor", "{tensor", `small.yaml:26: launches[0].args[0].name: missing: name the argument`},
		{"no output", "tensor: logits", "tensor: weights", `small.yaml:21: launches: a logits kernel has an argument with tensor logits or one with head_logits, and not both`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if strings.Count(small, test.old) != 1 {
				t.Fatalf("%q is not once in the manifest", test.old)
			}
			_, err := ParseManifest("small.yaml", []byte(strings.Replace(small, test.old, test.new, 1)))
			if err == nil {
				t.Fatal("no error")
			}
			for line := range strings.Lines(err.Error()) {
				if strings.HasPrefix(line, test.want) {
					return
				}
			}
			t.Errorf("got  %v\nwant %s", err, test.want)
		})
	}
}

func TestParseManifestMissing(t *testing.T) {
	_, err := ParseManifest("m.yaml", []byte("name: test/none\nkind: metadata\n"))
	want := []string{
		"m.yaml: wirings: missing: name at least one of device",
		"m.yaml: launches: missing: a manifest describes at least one launch",
		"m.yaml: launches: no argument has tensor table_out: a metadata kernel writes table_out and per_request_out",
		"m.yaml: launches: no argument has tensor per_request_out: a metadata kernel writes table_out and per_request_out",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got  %v\nwant %s", err, strings.Join(want, "\n"))
	}
	for _, data := range []string{"", "just text", "- a\n- b\n", "\x7fELF\x02\x01\x01\x00\x00"} {
		if _, err := ParseManifest("m.yaml", []byte(data)); err == nil {
			t.Errorf("%q was taken for a manifest", data)
		} else if !strings.HasPrefix(err.Error(), "m.yaml") || strings.Count(err.Error(), "\n") > 4 {
			t.Errorf("%q: error is %v", data, err)
		}
	}
}
