package kernels

import (
	"slices"
	"testing"
)

func TestMatch(t *testing.T) {
	var all []*Subject
	for _, name := range []string{"aiter/plain", "hip/mfma-split", "hip/naive"} {
		for _, target := range []string{"gfx942", "gfx950"} {
			all = append(all, &Subject{Name: name, Target: target, Wiring: "table"})
		}
	}
	tests := []struct {
		glob string
		want []int
		err  string
	}{
		{"", []int{0, 1, 2, 3, 4, 5}, ""},
		{"*", []int{0, 1, 2, 3, 4, 5}, ""},
		{"hip/*", []int{2, 3, 4, 5}, ""},
		{"hip/naive", []int{4, 5}, ""},
		{"hip/naive gfx942 table", []int{4}, ""},
		{"hip/naive:gfx942:table", []int{4}, ""},
		{"*gfx950*", []int{1, 3, 5}, ""},
		{"?i[ap]/*", []int{2, 3, 4, 5}, ""},
		{"naive", nil, `no subject matches "naive": there are aiter/plain, hip/mfma-split, hip/naive`},
		{"hip.naive", nil, `no subject matches "hip.naive": there are aiter/plain, hip/mfma-split, hip/naive`},
		{"hip/[a", nil, `subject "hip/[a": [ has no ] or nothing between: write [a-z], or * and ? alone`},
		{"hip/[z-a]", nil, `subject "hip/[z-a]" is not a pattern: write *, ? or [a-z]`},
	}
	for _, test := range tests {
		got, err := Match(test.glob, all)
		var want []*Subject
		for _, i := range test.want {
			want = append(want, all[i])
		}
		if message(err) != test.err || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v; want %v, %s", test.glob, got, err, want, test.err)
		}
	}
	if _, err := Match("x", nil); message(err) != `no subject matches "x": there are none` {
		t.Errorf("no subjects: error is %v", err)
	}
}
