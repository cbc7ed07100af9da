package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"

	"mqaproof/model"
	"mqaproof/model/fp8"
	"mqaproof/model/profile"
	"mqaproof/sim/codeobject"
	"mqaproof/sim/gpu"
	"mqaproof/sim/isa"
)

// BackendEmu is the emulator of sim/gpu.
const BackendEmu = "emu"

// Subject is what is tested: a kernel, for one target, with a wiring, on a
// backend. A subject may be used by several goroutines at once.
type Subject struct {
	Name     string // the manifest's
	Target   string // "gfx942"
	Wiring   string // "last-column"
	Backend  string // BackendEmu
	Manifest *Manifest
	Source   string // where its manifest came from, for people

	text   []byte // the manifest as written
	code   *code
	format fp8.Format
	plan   *plan

	numeric func() (*profile.Profile, error) // see bindProfile
}

// code is one code object, shared by the subjects that run it.
type code struct {
	file     *codeobject.File
	hash     string
	programs []func() (*gpu.Program, error) // one a launch; decodes on the first call
}

// newSubjects makes the subjects of one manifest and one code object: one for
// each wiring, in no particular order. dir is the manifest's folder.
func newSubjects(dir fs.FS, m *Manifest, manifest []byte, source, target string, object []byte, f *codeobject.File) ([]*Subject, error) {
	format, err := formatOf(m, target)
	if err != nil {
		return nil, err
	}
	c := &code{file: f, hash: hashOf(manifest, object)}
	for i := range m.Launches {
		k, err := f.Kernel(m.Launches[i].Kernel)
		if err != nil {
			return nil, fmt.Errorf("launches[%d]: %w", i, err)
		}
		if err := checkArgs(&m.Launches[i], k); err != nil {
			return nil, fmt.Errorf("launches[%d]: %w", i, err)
		}
		c.programs = append(c.programs, sync.OnceValues(func() (*gpu.Program, error) { return gpu.Load(f, k.Name) }))
	}
	var out []*Subject
	for wiring := range m.Wirings {
		p, err := newPlan(m, wiring, f)
		if err != nil {
			return nil, err
		}
		s := &Subject{
			Name: m.Name, Target: target, Wiring: wiring, Backend: BackendEmu,
			Manifest: m, Source: source,
			text: manifest, code: c, format: format, plan: p,
		}
		s.bindProfile(dir)
		out = append(out, s)
	}
	return out, nil
}

// formatOf is the fp8 format that a kernel reads: the manifest's word, else
// the target's own (CDNA3 has e4m3fnuz, CDNA4 the OCP e4m3fn).
func formatOf(m *Manifest, target string) (fp8.Format, error) {
	if m.FP8 != "" {
		return parseFormat(m.FP8)
	}
	t, err := isa.ParseTarget(target)
	if err != nil {
		return 0, err
	}
	if t == isa.GFX942 {
		return fp8.E4M3FNUZ, nil
	}
	return fp8.E4M3FN, nil
}

// hashOf ties a corpus file to the manifest and the code it was found with.
func hashOf(manifest, object []byte) string {
	m, o := sha256.Sum256(manifest), sha256.Sum256(object)
	all := sha256.Sum256(append(m[:], o[:]...))
	return hex.EncodeToString(all[:])
}

// String names the subject: "hip/mfma-split gfx942 last-column".
func (s *Subject) String() string { return s.Name + " " + s.Target + " " + s.Wiring }

// Fault is the id of the fault that the manifest announces, or "".
func (s *Subject) Fault() string { return s.Manifest.Wirings[s.Wiring].Fault }

// FaultProperty is the property that the announced fault breaks, or "".
func (s *Subject) FaultProperty() string { return s.Manifest.Wirings[s.Wiring].Property }

// Format is the fp8 format of the q and cache that the kernel takes. A kernel
// with a planted B19 still takes its target's format, whatever it does with it.
func (s *Subject) Format() fp8.Format { return s.format }

// CodeObject is the machine code that the subject runs.
func (s *Subject) CodeObject() *codeobject.File { return s.code.file }

// Kernels are the symbols that the subject launches, in order.
func (s *Subject) Kernels() []string {
	var out []string
	for i := range s.Manifest.Launches {
		out = append(out, s.Manifest.Launches[i].Kernel)
	}
	return out
}

// ManifestText is the manifest as it was written.
func (s *Subject) ManifestText() string { return string(s.text) }

// Hash is the sha256 of the manifest and the code object, in hex.
func (s *Subject) Hash() string { return s.code.hash }

// Verified reports whether the arithmetic that the subject uses is known to the
// bit. No public description covers the matrix arithmetic of gfx950: there it is
// an assumption. Metadata kernels have integers only.
func (s *Subject) Verified() bool {
	return s.Target != isa.GFX950.String() || s.Manifest.Kind == Metadata
}

// Reads is what the kernel may read of the cache: ReadsTokens or ReadsPages.
func (s *Subject) Reads() string {
	if s.Manifest.Reads == "" {
		return ReadsTokens
	}
	return s.Manifest.Reads
}

// Tile is how many positions the kernel writes at a time: past its length it
// fills the last tile with -inf and leaves the rest unwritten. 1: none.
func (s *Subject) Tile(in *model.Inputs) (int, error) {
	e := s.Manifest.compiled.tile
	if e == nil {
		return 1, nil
	}
	v, err := s.valuesOf(in, nil)
	if err != nil {
		return 0, err
	}
	n, err := e.int(v)
	if err != nil {
		return 0, fmt.Errorf("%s: tile: %w", s, err)
	}
	if n < 1 {
		return 0, fmt.Errorf("%s: tile: %q is %d for this case: it must be positive", s, e.source, n)
	}
	return int(n), nil
}

// Inputs builds the case's tensors in the subject's fp8 format.
func (s *Subject) Inputs(c model.Case) (*model.Inputs, error) {
	return model.Build(c, s.format)
}

// valuesOf evaluates the manifest's variables and constants for a case and,
// where the kernel has one, its step.
func (s *Subject) valuesOf(in *model.Inputs, step *model.Step) (*values, error) {
	return s.valuesFrom(func(name string) int {
		if v, ok := stepVar(step, name); ok {
			return v
		}
		return inputVar(in, name)
	})
}

func (s *Subject) valuesFrom(lookup func(name string) int) (*values, error) {
	v, err := s.Manifest.compiled.launching.of(lookup)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	return v, nil
}
