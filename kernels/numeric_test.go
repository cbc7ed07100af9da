package kernels

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mqaproof/model/profile"
)

// naiveIn copies the naive kernel of gfx942 into a folder, with another
// profile line, and loads it.
func naiveIn(t *testing.T, dir, line string) ([]*Subject, error) {
	t.Helper()
	text, err := os.ReadFile("hip/naive.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const old = "profile: scalar-seq\n"
	if !strings.Contains(string(text), old) {
		t.Fatal("the naive kernel's manifest has another profile now")
	}
	manifest := filepath.Join(dir, "naive.yaml")
	if err := os.WriteFile(manifest, []byte(strings.Replace(string(text), old, line, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	return Load(manifest, "hip/obj/naive.gfx942.hsaco")
}

func TestNumericProfile(t *testing.T) {
	named, err := profile.Find("scalar-seq", "gfx942")
	if err != nil {
		t.Fatal(err)
	}
	own := *named
	own.Name = "own"
	hopper := own
	hopper.Target, hopper.Format = "sm_90", 1
	wrong := own
	wrong.Format = 3 - own.Format
	file := func(ps ...*profile.Profile) string {
		data, err := profile.Write(ps...)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, test := range map[string]struct {
		line, file, want, says string
	}{
		"a name":           {"profile: scalar-seq\n", "", "scalar-seq", ""},
		"a file":           {"profile: own.json\n", file(&hopper, &own), "own", ""},
		"none":             {"", "", "", ErrNoProfile.Error()},
		"no such file":     {"profile: own.json\n", "", "", "own.json"},
		"a damaged file":   {"profile: own.json\n", "{", "", "own.json: not a profile file"},
		"not its target":   {"profile: own.json\n", file(&hopper), "", "is for gfx942"},
		"not its format":   {"profile: own.json\n", file(&wrong), "", "the profile takes"},
		"no profile of it": {"profile: mfma32x64-lanes\n", "", "", "gfx950"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.file != "" {
				if err := os.WriteFile(filepath.Join(dir, "own.json"), []byte(test.file), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			subjects, err := naiveIn(t, dir, test.line)
			if err != nil {
				t.Fatal(err)
			}
			p, err := subjects[0].NumericProfile()
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v does not say %q", err, test.says)
				}
				if errors.Is(err, ErrNoProfile) != (test.line == "") {
					t.Errorf("error %v, ErrNoProfile: %v", err, errors.Is(err, ErrNoProfile))
				}
				return
			}
			if err != nil || p.Name != test.want {
				t.Errorf("got %v, %v, want %s", p, err, test.want)
			}
		})
	}
	for line, says := range map[string]string{
		"profile: mfma17\n":        `profile: "mfma17" is not known`,
		"profile: ../other.json\n": "below the manifest's own folder",
	} {
		if _, err := naiveIn(t, t.TempDir(), line); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v does not say %q", line, err, says)
		}
	}
}

// TestBuiltinProfiles finds the profile of every built-in kernel.
func TestBuiltinProfiles(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Manifest.Kind != Logits {
			continue
		}
		p, err := s.NumericProfile()
		if err != nil || p.Target != s.Target {
			t.Errorf("%s: %v, %v", s, p, err)
		}
	}
}
