package model

import (
	"strings"
	"testing"

	"mqaproof/model/fp8"

	"github.com/google/go-cmp/cmp"
)

func TestBuildRefuses(t *testing.T) {
	if _, err := Build(small(), 0); err == nil || !strings.Contains(err.Error(), "fp8 format") {
		t.Errorf("no format: error %v", err)
	}
	if _, err := Build(Case{}, fp8.E4M3FN); err == nil || !strings.Contains(err.Error(), "data") {
		t.Errorf("zero case: error %v", err)
	}
}

// TestBuildIsPure: the same case gives the same tensors, and stays as it was.
func TestBuildIsPure(t *testing.T) {
	c := with(func(c *Case) { c.ShufflePages, c.ExtraPages, c.Data = true, 2, Normal })
	a, b := build(t, c), build(t, c)
	if diff := cmp.Diff(a, b, cmp.AllowUnexported(Inputs{})); diff != "" {
		t.Errorf("two builds differ:\n%s", diff)
	}
	if diff := cmp.Diff(with(func(c *Case) { c.ShufflePages, c.ExtraPages, c.Data = true, 2, Normal }), c); diff != "" {
		t.Errorf("Build changed its case:\n%s", diff)
	}
}

func TestBuildShapes(t *testing.T) {
	in := build(t, small())
	for _, tc := range []struct {
		name      string
		got, want int
	}{
		{"rows", in.Rows, 6}, {"width", in.Width, 64}, {"q", len(in.Q), 6 * 4 * 16}, {"weights", len(in.Weights), 6 * 4},
		{"pages", in.Cache.Pages, 1 + 3 + 5}, {"page bytes", in.Cache.PageBytes, 4 * 20}, {"cache", len(in.Cache.Bytes), 9 * 80},
		{"table width", in.TableWidth, 5}, {"flat slots", len(in.KVIndices), 31},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, tc.got, tc.want)
		}
	}
	if diff := cmp.Diff([]int32{10, 11, 0, 0, 19, 20}, in.Table); diff != "" {
		t.Errorf("table:\n%s", diff)
	}
	if diff := cmp.Diff([]int32{11, 0, 20}, in.PerRequest); diff != "" {
		t.Errorf("per request:\n%s", diff)
	}
	if diff := cmp.Diff([]int32{0, 11, 11, 31}, in.Prefix); diff != "" {
		t.Errorf("prefix:\n%s", diff)
	}
}

// BenchmarkBuild is the upstream case's shape: B=16, next_n=3, 64 heads of 128.
func BenchmarkBuild(b *testing.B) {
	c := Case{Seed: 1, Data: Exact, NextN: 3, Heads: 64, HeadDim: 128, Page: 64, MaxModelLen: 512, Requests: manyRequests(16, 400)}
	for b.Loop() {
		if _, err := Build(c, fp8.E4M3FNUZ); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuildLong is one request of 100,000 tokens.
func BenchmarkBuildLong(b *testing.B) {
	c := Case{Seed: 1, Data: Normal, NextN: 2, Heads: 16, HeadDim: 128, Page: 64, MaxModelLen: 1 << 17, Requests: manyRequests(1, 100_000)}
	for b.Loop() {
		if _, err := Build(c, fp8.E4M3FN); err != nil {
			b.Fatal(err)
		}
	}
}
