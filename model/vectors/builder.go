package vectors

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/google/go-cmp/cmp"

	"mqaproof/model/metadata"
)

// maxLine bounds a recorded sequence.
const maxLine = 1 << 28

// CheckBuilder replays every sequence of a builder set and compares every
// field of every step. A step that the builder refuses differs, and so do
// those after it that its absence changes.
func CheckBuilder(ctx context.Context, path string) (Result, error) {
	r := Result{Path: path, Kind: builderKind, Unit: "steps"}
	err := ReadBuilder(path, func(line int, q Sequence) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.Parts++
		b, err := metadata.NewBuilder(q.Config)
		if err != nil {
			return fmt.Errorf("vectors: %s:%d: %w", path, line, err)
		}
		for i, step := range q.Steps {
			r.Total++
			diff := differs(b, step)
			if diff == "" {
				r.Equal++
			} else if r.First == "" {
				r.First = fmt.Sprintf("%s:%d step %d of %d: (-recorded +model)\n%s", path, line, i+1, len(q.Steps), diff)
			}
		}
		return nil
	})
	if err == nil && r.Total == 0 {
		err = fmt.Errorf("vectors: %s holds no step", path)
	}
	return r, err
}

func differs(b *metadata.Builder, step Step) string {
	m, err := b.Step(step.Batch)
	if err != nil {
		return fmt.Sprintf("the model refuses the step: %v\n", err)
	}
	return cmp.Diff(step.Expect, Record(b, m))
}

// ReadBuilder calls each with every line of a builder set; lines count from 1.
// Unknown fields and a cut line are errors.
func ReadBuilder(path string, each func(line int, q Sequence) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	line := 1
	for ; lines.Scan(); line++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var q Sequence
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		err := d.Decode(&q)
		if err == nil {
			if _, rest := d.Token(); rest != io.EOF {
				err = fmt.Errorf("more than one value")
			}
		}
		if err != nil {
			return fmt.Errorf("vectors: %s:%d: not a recorded sequence: %w", path, line, err)
		}
		if len(q.Steps) == 0 {
			return fmt.Errorf("vectors: %s:%d: not a recorded sequence: it has no steps", path, line)
		}
		if err := each(line, q); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("vectors: %s:%d: %w", path, line, err)
	}
	return nil
}
