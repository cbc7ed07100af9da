package order_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mqaproof/kernels"
	"mqaproof/kernels/order"
	"mqaproof/model/profile"
)

// TestDeriveBuiltin finds the profiles that the sources of our kernels
// describe, without looking at them.
func TestDeriveBuiltin(t *testing.T) {
	for _, test := range []struct{ name, target string }{
		{"naive", "gfx942"},
		{"mfma-stage1", "gfx942"},
		{"per-row", "gfx942"},
		{"per-row-wide", "gfx950"},
		{"mfma-split", "gfx942"},
		{"mfma-split", "gfx950"},
	} {
		t.Run(test.name+" "+test.target, func(t *testing.T) {
			t.Parallel()
			s := fewShapes(t, test.name, test.target)
			want, err := s.NumericProfile()
			if err != nil {
				t.Fatal(err)
			}
			got, err := order.Derive(t.Context(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			same := *want
			same.Name, same.About = got.Name, got.About
			if !reflect.DeepEqual(got, &same) {
				t.Errorf("derived %s\nnamed   %s", got.Summary(), want.Summary())
			}
		})
	}
}

// fewShapes is a kernel of ours with the limits of its manifest narrowed, to
// save time.
func fewShapes(t *testing.T, name, target string) *kernels.Subject {
	t.Helper()
	text, err := os.ReadFile("../hip/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	heads, dims := "[16, 48]", "[64]"
	if name == "naive" {
		heads, dims = "[1, 5, 16]", "[4, 32]"
	}
	narrow := regexp.MustCompile(`(?m)^limits:\n(  .*\n)*`).ReplaceAllString(string(text), "")
	narrow += "limits: {heads: " + heads + ", head_dim: " + dims + "}\n"
	manifest := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(manifest, []byte(narrow), 0o666); err != nil {
		t.Fatal(err)
	}
	subjects, err := kernels.Load(manifest, "../hip/obj/"+name+"."+target+".hsaco")
	if err != nil {
		t.Fatal(err)
	}
	return subjects[0]
}

func TestDeriveStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	said := 0
	_, err := order.Derive(ctx, builtin(t, "hip/mfma-split", "gfx942"), func(string) {
		if said++; said == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
	if _, err := order.Derive(t.Context(), builtin(t, "hip/metadata", "gfx942"), nil); err == nil || !strings.Contains(err.Error(), "gives no logits") {
		t.Errorf("a metadata kernel: %v", err)
	}
}

// TestDeriveSaysWhatIsWrong derives from kernels with planted faults of the
// values: there is no profile for them.
func TestDeriveSaysWhatIsWrong(t *testing.T) {
	for name, says := range map[string]string{
		"hip/fault-b19": "place of the scale", // reads k as the other fp8 format: a factor of 2
	} {
		_, err := order.Derive(t.Context(), builtin(t, name, "gfx942"), nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v does not say %q", name, err, says)
		}
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../hip/naive.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "naive.yaml")
	load := func(text string) *kernels.Subject {
		t.Helper()
		if err := os.WriteFile(manifest, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		subjects, err := kernels.Load(manifest, "../hip/obj/naive.gfx942.hsaco")
		if err != nil {
			t.Fatal(err)
		}
		return subjects[0]
	}
	p, err := profile.Find("mfma16-heads", "gfx942") // any: saving does not judge
	if err != nil {
		t.Fatal(err)
	}
	for name, was := range map[string]string{
		"in place of a name": string(text),
		"where none was":     strings.Replace(string(text), "profile: scalar-seq\n", "", 1),
	} {
		s := load(was)
		file, err := order.Save(s, p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := filepath.Join(dir, "naive.profile.json"); file != want {
			t.Errorf("%s: saved as %s, want %s", name, file, want)
		}
		again, err := kernels.Load(manifest, "../hip/obj/naive.gfx942.hsaco")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := again[0].NumericProfile()
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: comes back as %v, %v", name, got, err)
		}
		now, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		line := "profile: naive.profile.json\n"
		if strings.Replace(string(now), line, "", 1) != strings.Replace(was, "profile: scalar-seq\n", "", 1) {
			t.Errorf("%s: the manifest is otherwise changed:\n%s", name, now)
		}

		// The other target's profile joins it, and the first stays.
		other := *p
		other.Target = "gfx950"
		if _, err := order.Save(s, &other); err == nil || !strings.Contains(err.Error(), "none of") {
			t.Errorf("%s: a profile of another target: %v", name, err)
		}
		if _, err := order.Save(s, p); err == nil || !strings.Contains(err.Error(), "has changed") {
			t.Errorf("%s: a manifest that changed: %v", name, err)
		}
		if err := os.WriteFile(file, []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := order.Save(again[0], p); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: a damaged file: %v", name, err)
		}
		both, err := profile.Write(&other)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, both, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := order.Save(again[0], p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if ps, err := profile.Read(data); err != nil || len(ps) != 2 || ps[0].Target != "gfx942" || ps[1].Target != "gfx950" {
			t.Errorf("%s: %v, %v, want the profiles of both targets", name, ps, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := order.Save(builtin(t, "hip/naive", "gfx942"), p); err == nil || !strings.Contains(err.Error(), "no file to write to") {
		t.Errorf("a built-in kernel: %v", err)
	}
}

// TestComplete has a kernel of two targets without a profile, one with a
// profile, a metadata kernel, and a damaged manifest.
func TestComplete(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, object := range []string{"naive.gfx942", "naive.gfx950", "metadata.gfx942", "metadata.gfx950"} {
		put("obj/"+object+".hsaco", read("../hip/obj/"+object+".hsaco"))
	}
	naive := read("../hip/naive.yaml")
	none := strings.Replace(naive, "profile: scalar-seq\n", "limits: {heads: [3], head_dim: [4]}\n", 1)
	manifests := []string{
		put("none.yaml", none),
		put("named.yaml", naive),
		put("metadata.yaml", read("../hip/metadata.yaml")),
		put("damaged.yaml", "name: ["),
	}
	err := order.Complete(t.Context(), manifests, nil)
	if err == nil || !strings.Contains(err.Error(), "damaged.yaml") || strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("error %v, want one about damaged.yaml alone", err)
	}
	if got := read(manifests[1]); got != naive {
		t.Errorf("a manifest with a profile is changed:\n%s", got)
	}
	subjects, err := kernels.Load(manifests[0], "")
	if err != nil || len(subjects) != 2 {
		t.Fatal(subjects, err)
	}
	for _, s := range subjects {
		p, err := s.NumericProfile()
		if err != nil || p.Target != s.Target || p.Name != "derived/hip/naive" {
			t.Errorf("%s: %v, %v", s, p, err)
		}
	}
	before := read(manifests[0])
	if err := order.Complete(t.Context(), manifests[:1], func(line string) { t.Errorf("once more: %s", line) }); err != nil || read(manifests[0]) != before {
		t.Errorf("once more: %v", err)
	}
}
