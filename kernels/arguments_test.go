package kernels

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"mqaproof/model"
	"mqaproof/sim/codeobject"
)

// smallFile is a code object whose kernel takes the arguments of the manifest
// small, with a hidden one among them and after them.
func smallFile() *codeobject.File {
	return &codeobject.File{Target: "gfx942", Kernels: []codeobject.Kernel{{
		Name:         "small",
		KernargSize:  72,
		MaxWorkgroup: 256,
		Args: []codeobject.Arg{
			{Name: "q.coerce", Offset: 0, Size: 8, ValueKind: "global_buffer"},
			{Name: "scales", Offset: 8, Size: 8, ValueKind: "global_buffer"},
			{Name: "", Offset: 16, Size: 8, ValueKind: "global_buffer"},
			{Name: "", Offset: 24, Size: 8, ValueKind: "hidden_global_offset_x"},
			{Name: "out", Offset: 32, Size: 8, ValueKind: "global_buffer"},
			{Name: "stride", Offset: 40, Size: 4, ValueKind: "by_value"},
			{Name: "factor", Offset: 44, Size: 4, ValueKind: "by_value"},
			{Name: "nothing", Offset: 48, Size: 8, ValueKind: "global_buffer"},
			{Name: "", Offset: 56, Size: 4, ValueKind: "hidden_block_count_x"},
		},
	}}}
}

func smallSubjects(t *testing.T) map[string]*Subject {
	t.Helper()
	m, err := ParseManifest("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	subjects, err := newSubjects(nil, m, []byte(small), "small.yaml", "gfx942", nil, smallFile())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Subject{}
	for _, s := range subjects {
		out[s.Wiring] = s
	}
	return out
}

func smallInputs() *model.Inputs {
	return &model.Inputs{
		Case:       model.Case{NextN: 2, Heads: 16, HeadDim: 32, Page: 64, MaxModelLen: 300, LengthsStride: 3},
		Rows:       4,
		Width:      300,
		TableWidth: 5,
		Global:     []int32{9, 0},
		Table:      []int32{8, 9, 0, 0},
		PerRequest: []int32{9, 0},
	}
}

func TestPackArguments(t *testing.T) {
	for wiring, lengths := range map[string]string{"table": "table", "last-column": "per_request"} {
		s := smallSubjects(t)[wiring]
		v, err := s.valuesOf(smallInputs(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		got, err := s.plan.launches[0].pack(&s.Manifest.Launches[0], &s.Manifest.compiled.launches[0], v, func(i int) uint64 {
			asked = append(asked, s.plan.tensors[i].name)
			return uint64(len(asked)) << 40
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"q", "cache", lengths, "logits"}; !slices.Equal(asked, want) {
			t.Errorf("%s: tensors %v, want %v", wiring, asked, want)
		}
		want := make([]byte, 72)
		binary.LittleEndian.PutUint64(want[0:], 1<<40)
		binary.LittleEndian.PutUint64(want[8:], 2<<40+64*32)
		binary.LittleEndian.PutUint64(want[16:], 3<<40)
		binary.LittleEndian.PutUint64(want[32:], 4<<40)
		binary.LittleEndian.PutUint32(want[40:], 10)
		binary.LittleEndian.PutUint32(want[44:], math.Float32bits(0.5))
		if !slices.Equal(got, want) {
			t.Errorf("%s: packed % x\nwant % x", wiring, got, want)
		}
	}
}

func TestCheckArguments(t *testing.T) {
	tests := []struct {
		name   string
		change func(k *codeobject.Kernel)
		want   string
	}{
		{"as the manifest says", func(*codeobject.Kernel) {}, ""},
		{"one more", func(k *codeobject.Kernel) {
			k.Args = append(k.Args, codeobject.Arg{Name: "more", Size: 4, ValueKind: "by_value"})
		}, "launches[0]: kernel small takes 8 arguments, the manifest gives 7: the code object has q (global_buffer, 8 bytes), scales (global_buffer, 8 bytes), #2 (global_buffer, 8 bytes), out"},
		{"none", func(k *codeobject.Kernel) { k.Args = nil }, "launches[0]: kernel small takes 0 arguments, the manifest gives 7: the code object has none"},
		{"another name", func(k *codeobject.Kernel) { k.Args[1].Name = "scale" }, "launches[0]: kernel small, argument 1 (scales): the code object calls it scale: use the same name, in the same order"},
		{"another size", func(k *codeobject.Kernel) { k.Args[5].Size = 8 }, "launches[0]: kernel small, argument 4 (stride): the code object has 8 bytes here, the manifest 4"},
		{"a pointer", func(k *codeobject.Kernel) { k.Args[5].ValueKind = "global_buffer" }, "launches[0]: kernel small, argument 4 (stride): the code object has a pointer here, the manifest a value of type i32"},
		{"a value", func(k *codeobject.Kernel) { k.Args[0].ValueKind, k.Args[0].Size = "by_value", 4 }, "launches[0]: kernel small, argument 0 (q): the code object has a value of 4 bytes here, the manifest a pointer"},
		{"a pointer by value", func(k *codeobject.Kernel) { k.Args[0].ValueKind = "by_value" }, ""},
		{"another kind", func(k *codeobject.Kernel) { k.Args[0].ValueKind = "image" }, `launches[0]: kernel small, argument 0 (q): value kind "image" is not supported: global_buffer and by_value are`},
		{"past the end", func(k *codeobject.Kernel) { k.KernargSize = 52 }, "launches[0]: kernel small, argument 6 (nothing): its 8 bytes at offset 48 lie past the 52 bytes of arguments: the code object's metadata is damaged"},
		{"no such kernel", func(k *codeobject.Kernel) { k.Name = "large" }, `launches[0]: code object has no kernel "small": it has large`},
	}
	m, err := ParseManifest("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		f := smallFile()
		test.change(&f.Kernels[0])
		_, err := newSubjects(nil, m, nil, "small.yaml", "gfx942", nil, f)
		if got := message(err); test.want == "" && err != nil || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestPutValues(t *testing.T) {
	s, v := testScope(t, map[string]string{"wide": "4294967296", "negative": "0 - 1"})
	tests := []struct {
		typ, source string
		want        uint64
		err         string
	}{
		{"i32", "batch", 3, ""},
		{"i32", "negative", 1<<32 - 1, ""},
		{"i32", "wide / 2", 0, `"wide / 2" is 2147483648, which is not an i32`},
		{"u32", "wide - 1", 1<<32 - 1, ""},
		{"u32", "wide", 0, `"wide" is 4294967296, which is not an u32`},
		{"u32", "negative", 0, `"negative" is -1, which is not an u32`},
		{"i64", "negative", math.MaxUint64, ""},
		{"u64", "wide", 1 << 32, ""},
		{"u64", "negative", 0, `"negative" is -1, which is not an u64`},
		{"f32", "1.5", uint64(math.Float32bits(1.5)), ""},
		{"f32", "batch", uint64(math.Float32bits(3)), ""},
		{"i32", "cdiv(1, world - 1)", 0, `"cdiv(1, world - 1)": cdiv(1, 0): the divisor must be positive`},
	}
	for _, test := range tests {
		want := integer
		if test.typ == "f32" {
			want = number
		}
		e, err := s.compile(test.source, want)
		if err != nil {
			t.Fatal(err)
		}
		var dst [8]byte
		err = put(dst[:argSize(test.typ)], test.typ, e, v)
		if message(err) != test.err {
			t.Errorf("%s %s: error %v, want %s", test.typ, test.source, err, test.err)
		} else if got := binary.LittleEndian.Uint64(dst[:]); err == nil && got != test.want {
			t.Errorf("%s %s: wrote %#x, want %#x", test.typ, test.source, got, test.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestTableBytes(t *testing.T) {
	in := smallInputs()
	if got, want := tableBytes(in), intBytes([]int32{8, 9, 0, 0, 0, 1}); !slices.Equal(got, want) {
		t.Errorf("strided table is % x, want % x", got, want)
	}
	in.Case.LengthsStride = 0
	if got, want := tableBytes(in), intBytes([]int32{8, 9, 0, 0}); !slices.Equal(got, want) {
		t.Errorf("contiguous table is % x, want % x", got, want)
	}
}

func TestSumHeads(t *testing.T) {
	inf := float32(math.Inf(-1))
	values := []float32{1, inf, 1, 2, 1 << 24, 2, inf, 1, 2, 1, 0.5, inf, 1, 2, -1 << 24}
	bits := make([]uint32, len(values))
	for i, x := range values {
		bits[i] = math.Float32bits(x)
	}
	written := slices.Repeat([]bool{true}, len(values))
	written[2], written[3], written[8], written[13] = false, false, false, false
	sum, ok := sumHeads(3, 5, bits, written)
	for i, want := range []float32{3.5, inf, 0, 0, 0} /* 2^24 + 1 is 2^24 in float32 */ {
		if i == 2 || i == 3 {
			if ok[i] {
				t.Errorf("word %d is written, though a head left it", i)
			}
			continue
		}
		if got := math.Float32frombits(sum[i]); !ok[i] || got != want {
			t.Errorf("word %d is %v, written %v; want %v", i, got, ok[i], want)
		}
	}
}

// maxSpan is more than any tensor of a case takes: see model.Case.Validate.
const maxSpan = 1 << 39

func TestPlacements(t *testing.T) {
	if got := placements(3, 0); !slices.Equal(got, []uint64{0, 0, 0}) {
		t.Errorf("seed 0 gives %#x, want the emulator's own places", got)
	}
	one, two := placements(12, 1), placements(12, 2)
	if slices.Equal(one, two) || !slices.Equal(one, placements(12, 1)) {
		t.Errorf("places must differ by seed and by nothing else: %#x, %#x", one, two)
	}
	slices.Sort(one)
	for i, base := range one {
		if base%baseAlign != 0 || (base+maxSpan)>>46 != 0 {
			t.Errorf("base %#x is not aligned, or not a user address", base)
		}
		if i > 0 && base-one[i-1] < slotBytes-baseSpread {
			t.Errorf("bases %#x and %#x are near", one[i-1], base)
		}
	}
}
