// Package corpus keeps cases on disk: one small JSON file a case, named by its
// content, written atomically. The folder's own files are the saved ones:
// the upstream case and a minimal one for every planted fault.
package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"mqaproof/model"
	"mqaproof/sim/serving"
)

// Format is the version of the file format that this tool writes.
const Format = 1

// Entry is one saved case, or one saved sequence of an engine's steps.
type Entry struct {
	Format   int     `json:"format"`
	Tool     string  `json:"tool"` // version that wrote it
	Note     string  `json:"note,omitempty"`
	Subject  Subject `json:"subject"`
	Property string  `json:"property"`
	// Fault is the id of the fault that the subject's manifest announces.
	Fault    string     `json:"fault,omitempty"`
	Expected Expected   `json:"expected"`
	Case     model.Case `json:"case,omitzero"`
	// Sequence takes the place of the case where the subject is the serving
	// engine; Fault then names the engine's planted fault.
	Sequence *serving.Sequence `json:"sequence,omitempty"`
	// Also are further settings under which a replay shows the same requests.
	Also []Setting `json:"also,omitempty"`
	// On are globs of further subjects on which a replay runs the case, where
	// they are installed.
	On []string `json:"on,omitempty"`
	// Unverified is set when the result rests on arithmetic that no public
	// measurement confirms.
	Unverified bool `json:"unverified,omitempty"`
}

// Subject names what failed, and the bytes that it was.
type Subject struct {
	Name    string `json:"name"`
	Target  string `json:"target"`
	Wiring  string `json:"wiring"`
	Backend string `json:"backend"`
	SHA256  string `json:"sha256,omitempty"` // of the manifest and code object; not part of the file's name
}

// Expected is the violation that a replay should show again.
type Expected struct {
	Row       int    `json:"row"`
	Position  int    `json:"position"`
	WrongRows int    `json:"wrong_rows"`
	Rows      int    `json:"rows"`
	Detail    string `json:"detail,omitempty"`
}

// Setting changes the parallelism or compression of a case.
type Setting struct {
	DCP   model.DCP `json:"dcp,omitzero"`
	Ratio int       `json:"ratio,omitempty"`
}

// Apply is the case under the setting.
func (s Setting) Apply(c model.Case) model.Case {
	c.DCP, c.Ratio = s.DCP, s.Ratio
	return c
}

func (s Setting) String() string {
	var parts []string
	if s.DCP.World > 1 {
		parts = append(parts, fmt.Sprintf("DCP world %d rank %d", s.DCP.World, s.DCP.Rank))
	}
	if s.Ratio > 1 {
		parts = append(parts, fmt.Sprintf("ratio %d", s.Ratio))
	}
	return strings.Join(parts, ", ")
}

// Shape is what the entry runs, for people.
func (e *Entry) Shape() string {
	if e.Sequence == nil {
		return e.Case.String()
	}
	if n := len(e.Sequence.Steps); n != 1 {
		return fmt.Sprintf("%d steps of the serving engine", n)
	}
	return "1 step of the serving engine"
}

// ID is eight hex digits of what the entry is about: the case, the subject's
// name and the property. Two finds of the same thing have the same ID.
func (e *Entry) ID() string {
	about := struct {
		Name, Target, Wiring, Backend, Property string
		Case                                    model.Case
		Also                                    []Setting
		Fault                                   string            `json:",omitempty"` // of a sequence: part of its subject
		Sequence                                *serving.Sequence `json:",omitempty"`
	}{Name: e.Subject.Name, Target: e.Subject.Target, Wiring: e.Subject.Wiring, Backend: e.Subject.Backend, Property: e.Property, Case: e.Case, Also: e.Also}
	if e.Sequence != nil {
		about.Fault, about.Sequence = e.Fault, e.Sequence
	}
	b, err := json.Marshal(about)
	if err != nil {
		panic(fmt.Sprintf("an entry always marshals: %v", err)) // plain fields only
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// FileName is the property and the ID: "mask-3f9c2a1b.json".
func (e *Entry) FileName() string { return e.Property + "-" + e.ID() + ".json" }

// Encode is the file's bytes.
func (e *Entry) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

var idInName = regexp.MustCompile(`-([0-9a-f]{8})\.json$`)

// maxFile bounds what is read: a case of 1,024 requests takes about 100 KB.
const maxFile = 4 << 20

// Decode reads a corpus file's bytes; name is its path and its messages name it.
func Decode(name string, b []byte) (*Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return nil, fmt.Errorf("%s: not a corpus case: %w", name, damaged(err, len(b)))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: not a corpus case: text follows the JSON object", name)
	}
	if e.Format != Format {
		return nil, fmt.Errorf("%s: corpus format %d, and this version reads format %d: use the version of mqaproof that wrote it (%q)", name, e.Format, Format, e.Tool)
	}
	if err := e.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m := idInName.FindStringSubmatch(filepath.Base(name)); m != nil && m[1] != e.ID() {
		return nil, fmt.Errorf("%s: its content is that of %s, not of its name: it was edited or damaged; rename it to replay it as it is", name, e.FileName())
	}
	return &e, nil
}

var propertyName = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// validate says what is wrong with what the entry is about.
func (e *Entry) validate() error {
	switch {
	case e.Subject.Name == "" || e.Property == "":
		return errors.New("not a corpus case: subject and property must be named")
	case !propertyName.MatchString(e.Property):
		return fmt.Errorf("not a corpus case: %q is no property's name", e.Property)
	case e.Sequence != nil:
		return e.validateSequence()
	}
	if err := e.Case.Validate(); err != nil {
		return fmt.Errorf("the case is not valid: %w", err)
	}
	for i, s := range e.Also {
		if err := s.Apply(e.Case).Validate(); err != nil {
			return fmt.Errorf("the case is not valid under also[%d]: %w", i, err)
		}
	}
	return nil
}

func (e *Entry) validateSequence() error {
	if len(e.Case.Requests) > 0 {
		return errors.New("not a corpus case: it has both a case and a sequence of steps")
	}
	if err := e.Sequence.Engine.Validate(); err != nil {
		return fmt.Errorf("the sequence is not valid: %w", err)
	}
	if _, err := serving.ParseFault(e.Fault); err != nil {
		return fmt.Errorf("the sequence is not valid: %w", err)
	}
	if len(e.Sequence.Steps) == 0 {
		return errors.New("the sequence is not valid: it has no steps")
	}
	return nil
}

func damaged(err error, size int) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it ends after %d bytes in the middle of the object: truncated", size)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w at byte %d", err, syntax.Offset)
	case errors.As(err, &typed):
		return fmt.Errorf("%s is a %s, want %s", typed.Field, typed.Value, typed.Type.Kind())
	}
	return err
}
