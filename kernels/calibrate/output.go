package calibrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// outputFormat names the file that the launcher writes.
const outputFormat = "mqaproof-calibrate-1"

// file is the launcher's output as JSON.
type file struct {
	Format  string        `json:"format"`
	Target  string        `json:"target"`
	Inputs  string        `json:"inputs"`  // sha256 of tiles.bin, hex
	Device  string        `json:"device"`  // what the runtime calls the GPU
	Runtime string        `json:"runtime"` // its version
	Results []measurement `json:"results"`
}

// measurement is what one instruction gave: D of all tiles, float32 little-endian,
// in the order of the tiles and row by row.
type measurement struct {
	Instruction string `json:"instruction"`
	SHA256      string `json:"sha256"` // of the data before base64
	Data        []byte `json:"data"`
}

// maxOutput bounds the size of an output file.
const maxOutput = 256 << 20

// Measured is a probe's output that has been checked: it is complete, and made
// from the tiles of this version.
type Measured struct {
	Target  Target
	Device  string
	Runtime string

	outputs []output
}

// Outputs is how many dot products were measured.
func (m *Measured) Outputs() int { return len(m.outputs) }

// Parse reads the file that the launcher wrote. An error says what is wrong
// with it.
func Parse(r io.Reader) (*Measured, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxOutput+1))
	if err != nil {
		return nil, fmt.Errorf("calibrate: reading the probe's output: %w", err)
	}
	if len(text) > maxOutput {
		return nil, fmt.Errorf("calibrate: the probe's output is over %d MiB: this is another file", maxOutput>>20)
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("calibrate: damaged probe output: %s; run the probe again and copy its output file whole", fmt.Sprintf(format, args...))
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&f); err != nil {
		return nil, bad("it is not JSON to its end: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, bad("something follows the JSON value")
	}
	if f.Format != outputFormat {
		return nil, fmt.Errorf("calibrate: the file's format is %q, want %q: this is not a probe's output, or that of another version", f.Format, outputFormat)
	}
	target, err := ParseTarget(f.Target)
	if err != nil {
		return nil, err
	}
	m := &Measured{Target: target, Device: f.Device, Runtime: f.Runtime}
	instructions := target.Instructions()
	if len(f.Results) != len(instructions) {
		return nil, bad("results of %d instructions, want the %d of %s", len(f.Results), len(instructions), target)
	}
	if want := digest(inputs(target)); f.Inputs != want {
		return nil, fmt.Errorf("calibrate: the probe ran other tiles (sha256 %.12q, want %.12q): it was written by another version; write a new probe and run that", f.Inputs, want)
	}
	for i, in := range instructions {
		r := &f.Results[i]
		if r.Instruction != in.Name {
			return nil, bad("result %d is of instruction %q, want %q", i+1, r.Instruction, in.Name)
		}
		if want := in.Tiles() * in.N * in.N * 4; len(r.Data) != want {
			return nil, bad("instruction %s has %d bytes of data, want %d", in.Name, len(r.Data), want)
		}
		if digest(r.Data) != r.SHA256 {
			return nil, bad("the data of instruction %s does not have its checksum", in.Name)
		}
		m.outputs = append(m.outputs, in.outputs(r.Data)...)
	}
	return m, nil
}

// outputs joins the instruction's tiles with what came out.
func (in Instruction) outputs(data []byte) []output {
	var out []output
	for i, t := range in.Inputs() {
		for j := range in.N * in.N {
			row, col := j/in.N, j%in.N
			out = append(out, output{
				in: in, a: t.A[row*in.K:][:in.K], b: t.B[col*in.K:][:in.K], c: t.C[j],
				want: binary.LittleEndian.Uint32(data[4*len(out):]),
				tile: i, row: row, col: col,
			})
		}
	}
	return out
}

// inputs is the content of tiles.bin: for each instruction in turn all A, all
// B and all C, little-endian.
func inputs(t Target) []byte {
	var b []byte
	for _, in := range t.Instructions() {
		tiles := in.Inputs()
		for i := range tiles {
			b = append(b, tiles[i].A...)
		}
		for i := range tiles {
			b = append(b, tiles[i].B...)
		}
		for i := range tiles {
			for _, c := range tiles[i].C {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c))
			}
		}
	}
	return b
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Encode writes an output file as the launcher does: results holds D of every
// instruction of the target, as in measurement.
func Encode(w io.Writer, t Target, device, runtime string, results [][]byte) error {
	f := file{Format: outputFormat, Target: string(t), Inputs: digest(inputs(t)), Device: device, Runtime: runtime}
	for i, in := range t.Instructions() {
		f.Results = append(f.Results, measurement{in.Name, digest(results[i]), results[i]})
	}
	return json.NewEncoder(w).Encode(f)
}
