package exhaust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mqaproof/kernels"
)

// saveEvery is how much work an interruption that cannot be caught may lose.
const saveEvery = time.Second

// formatVersion is of checkpoints; units that were cut otherwise have another
// Plan.
const formatVersion = 1

// checkpoint is what a file holds.
type checkpoint struct {
	Format int    `json:"format"`
	Name   string `json:"subject"`
	Object string `json:"sha256"` // of the manifest and the code object
	Plan   string `json:"plan"`   // what the units are
	Result Result `json:"result"`
	Unit   int    `json:"unit"` // that of the counterexample
	Done   ranges `json:"done"` // units
}

// state0 is the state before any unit.
func state0(s *kernels.Subject, units []unit, settings int) checkpoint {
	h := sha256.New()
	for _, u := range units {
		fmt.Fprintf(h, "%s %s %d %d\n", u.sweep.name, u.sweep.setting, u.from, u.to)
	}
	return checkpoint{Format: formatVersion, Name: s.String(), Object: s.Hash(), Plan: hex.EncodeToString(h.Sum(nil)[:8]),
		Result: Result{Subject: s.String(), Settings: settings, Units: len(units)}}
}

// checkpointFile is a name that tells subjects, code objects and plans apart.
func checkpointFile(dir string, s *kernels.Subject, plan string) string {
	if dir == "" {
		return ""
	}
	name := strings.NewReplacer("/", "-", " ", "-").Replace(s.String())
	return filepath.Join(dir, fmt.Sprintf("exhaust-%s-%s-%s.json", name, s.Hash()[:8], plan[:8]))
}

// load takes over the state of an earlier run.
func (x *exhaustion) load() error {
	if x.file == "" {
		return nil
	}
	data, err := os.ReadFile(x.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	var c checkpoint
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("checkpoint %s is damaged: %w: remove it to begin anew", x.file, err)
	}
	want := &x.state
	if c.Format != want.Format || c.Name != want.Name || c.Object != want.Object || c.Plan != want.Plan || c.Done.count() != c.Result.Done || c.Done.end() > len(x.units) {
		return fmt.Errorf("checkpoint %s is of another run or damaged: remove it to begin anew", x.file)
	}
	x.state = c
	return nil
}

// save writes the state whole or not at all. The lock is held.
func (x *exhaustion) save() error {
	x.saved = time.Now()
	if x.file == "" {
		return nil
	}
	data, err := json.MarshalIndent(&x.state, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(x.file, append(data, '\n')); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

func writeFile(name string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// ranges is a set of numbers, written "0-57,60".
type ranges struct{ list [][2]int } // ascending, apart by one or more

func (r *ranges) has(i int) bool {
	for _, p := range r.list {
		if i >= p[0] && i <= p[1] {
			return true
		}
	}
	return false
}

// add puts in a number that is not there.
func (r *ranges) add(i int) {
	k := 0
	for k < len(r.list) && r.list[k][1] < i {
		k++
	}
	joinsBefore := k > 0 && r.list[k-1][1] == i-1
	joinsAfter := k < len(r.list) && r.list[k][0] == i+1
	switch {
	case joinsBefore && joinsAfter:
		r.list[k-1][1] = r.list[k][1]
		r.list = append(r.list[:k], r.list[k+1:]...)
	case joinsBefore:
		r.list[k-1][1] = i
	case joinsAfter:
		r.list[k][0] = i
	default:
		r.list = append(r.list[:k], append([][2]int{{i, i}}, r.list[k:]...)...)
	}
}

func (r *ranges) count() int {
	n := 0
	for _, p := range r.list {
		n += p[1] - p[0] + 1
	}
	return n
}

// end is one past the largest number.
func (r *ranges) end() int {
	if len(r.list) == 0 {
		return 0
	}
	return r.list[len(r.list)-1][1] + 1
}

// MarshalText writes the set.
func (r ranges) MarshalText() ([]byte, error) {
	var parts []string
	for _, p := range r.list {
		if p[0] == p[1] {
			parts = append(parts, strconv.Itoa(p[0]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", p[0], p[1]))
		}
	}
	return []byte(strings.Join(parts, ",")), nil
}

// UnmarshalText reads a set.
func (r *ranges) UnmarshalText(text []byte) error {
	r.list = nil
	if len(text) == 0 {
		return nil
	}
	after := 0 // the least number that may follow
	for part := range strings.SplitSeq(string(text), ",") {
		a, b, two := strings.Cut(part, "-")
		if !two {
			b = a
		}
		from, err1 := strconv.Atoi(a)
		to, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || from < after || to < from {
			return fmt.Errorf("%q is no ascending list of numbers and ranges", text)
		}
		r.list = append(r.list, [2]int{from, to})
		after = to + 2
	}
	return nil
}
