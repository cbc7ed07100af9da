package vectors

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// tile is a record of a matrix-core set.
type tile struct {
	Kind   string `json:"kind"`
	Op     string `json:"op"`
	C      string `json:"c"`
	M      int    `json:"M"`
	N      int    `json:"N"`
	K      int    `json:"K"`
	Offset int    `json:"offset"`
}

// maxSide bounds the sides of a tile, so that sizes cannot overflow.
const maxSide = 1 << 12

// size is the number of bytes of the tile in the blob.
func (t tile) size() int { return (t.M+t.N)*t.K + 8*t.M*t.N }

func (t tile) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %dx%dx%d, c %s", t.Op, t.Kind, t.M, t.N, t.K, t.C))
}

// ruleOf finds the rule that a set's name names, and the fp8 format of its
// machine.
func ruleOf(path string) (*matrixcore.Rule, fp8.Format, error) {
	name := filepath.Base(path)
	for _, rule := range matrixcore.All() {
		if !strings.HasPrefix(name, rule.Name+"_") && !strings.HasPrefix(name, rule.Name+".") {
			continue
		}
		if rule == matrixcore.CDNA3 {
			return rule, fp8.E4M3FNUZ, nil
		}
		return rule, fp8.E4M3FN, nil
	}
	var names []string
	for _, rule := range matrixcore.All() {
		names = append(names, rule.Name+"_")
	}
	return nil, 0, fmt.Errorf("vectors: %s: the name of a matrix-core set starts with that of its rule, one of %s", path, strings.Join(names, ", "))
}

// CheckMatrix computes every tile of a matrix-core set and compares every
// output.
func CheckMatrix(ctx context.Context, path string) (Result, error) {
	r := Result{Path: path, Kind: matrixKind, Unit: "outputs"}
	rule, format, err := ruleOf(path)
	if err != nil {
		return r, err
	}
	r.Rule = rule.Name
	tiles, blob, err := readMatrix(path)
	if err != nil {
		return r, err
	}
	for i, t := range tiles {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		r.Parts++
		rest := blob[t.Offset:]
		a, rest := rest[:t.M*t.K], rest[t.M*t.K:]
		bt, rest := rest[:t.N*t.K], rest[t.N*t.K:]
		c, rest := floats(rest, t.M*t.N)
		want, _ := floats(rest, t.M*t.N)
		got := make([]float32, len(c))
		rule.MulAdd(format, format, t.M, t.N, t.K, a, bt, c, got)
		for o := range got {
			r.Total++
			if same(got[o], want[o]) {
				r.Equal++
			} else if r.First == "" {
				row, col := o/t.N, o%t.N
				r.First = fmt.Sprintf("%s tile %d (%s), output [%d][%d]: %#08x (%g), the set has %#08x (%g)\nA row %x\nB column %x\nC %#08x (%g)\n",
					path, i, t, row, col, math.Float32bits(got[o]), got[o], math.Float32bits(want[o]), want[o],
					a[row*t.K:(row+1)*t.K], bt[col*t.K:(col+1)*t.K], math.Float32bits(c[o]), c[o])
			}
		}
	}
	return r, nil
}

// checkOp holds the shape to the instruction, where the record names one.
func (t tile) checkOp() error {
	if t.Op == "" {
		return nil
	}
	var m, n, k int
	if _, err := fmt.Sscanf(t.Op, "f32_%dx%dx%d_", &m, &n, &k); err != nil {
		return fmt.Errorf("op %q is no matrix instruction such as f32_16x16x32_fp8_fp8", t.Op)
	}
	if m != t.M || n != t.N || k != t.K {
		return fmt.Errorf("op %s makes %dx%dx%d tiles, not %dx%dx%d", t.Op, m, n, k, t.M, t.N, t.K)
	}
	return nil
}

// readMatrix reads a set; every tile lies in the blob.
func readMatrix(path string) ([]tile, []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("vectors: %w", err)
	}
	var tiles []tile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&tiles); err != nil {
		return nil, nil, fmt.Errorf("vectors: %s: not a list of tiles: %w", path, err)
	}
	if len(tiles) == 0 {
		return nil, nil, fmt.Errorf("vectors: %s holds no tile", path)
	}
	blobPath := strings.TrimSuffix(path, ".json") + ".bin"
	if info, err := os.Stat(blobPath); err != nil || !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("vectors: %s has no blob: %s is no file", path, blobPath)
	}
	blob, err := os.ReadFile(blobPath)
	if err != nil {
		return nil, nil, fmt.Errorf("vectors: %s has no blob: %w", path, err)
	}
	for i, t := range tiles {
		for _, side := range []int{t.M, t.N, t.K} {
			if side < 1 || side > maxSide {
				return nil, nil, fmt.Errorf("vectors: %s: tile %d is %dx%dx%d; sides are from 1 to %d", path, i, t.M, t.N, t.K, maxSide)
			}
		}
		if err := t.checkOp(); err != nil {
			return nil, nil, fmt.Errorf("vectors: %s: tile %d: %w", path, i, err)
		}
		if t.Offset < 0 || t.Offset > len(blob)-t.size() {
			return nil, nil, fmt.Errorf("vectors: %s: tile %d needs bytes %d to %d; %s has %d", path, i, t.Offset, t.Offset+t.size(), blobPath, len(blob))
		}
	}
	return tiles, blob, nil
}

func floats(b []byte, n int) (values []float32, rest []byte) {
	values = make([]float32, n)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values, b[4*n:]
}

func same(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}
