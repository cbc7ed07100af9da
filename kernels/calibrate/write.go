package calibrate

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// probeFiles holds the probe's source, its code objects, the launcher and its
// README. build.sh makes the code objects.
//
//go:embed probe/probe.hip probe/*.hsaco probe/launch.py probe/README.md
var probeFiles embed.FS

// launchPlan is probe.json: what the launcher launches.
type launchPlan struct {
	Format     string       `json:"format"` // of the output
	Target     string       `json:"target"`
	CodeObject string       `json:"code_object"`
	Tiles      string       `json:"tiles"`
	Inputs     string       `json:"inputs"` // sha256 of the tiles' file
	Kernels    []kernelPlan `json:"kernels"`
}

type kernelPlan struct {
	Symbol      string `json:"symbol"`
	Instruction string `json:"instruction"`
	N           int    `json:"n"`
	K           int    `json:"k"`
	Tiles       int    `json:"tiles"`
}

// CodeObject is the probe's code object for the target.
func CodeObject(t Target) ([]byte, error) {
	data, err := probeFiles.ReadFile("probe/probe." + string(t) + ".hsaco")
	if err != nil {
		return nil, fmt.Errorf("calibrate: no probe for target %q: want %s or %s", t, GFX942, GFX950)
	}
	return data, nil
}

// WriteProbe writes the probe for the target into the folder, which it makes
// when it is not there. A folder that holds anything else is refused, so that
// nothing is overwritten but an older probe.
func WriteProbe(dir string, t Target) error {
	object, err := CodeObject(t)
	if err != nil {
		return err
	}
	tiles := inputs(t)
	plan := launchPlan{Format: outputFormat, Target: string(t), CodeObject: "probe.hsaco", Tiles: "tiles.bin", Inputs: digest(tiles)}
	for _, in := range t.Instructions() {
		plan.Kernels = append(plan.Kernels, kernelPlan{in.Kernel(), in.Name, in.N, in.K, in.Tiles()})
	}
	planText, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	files := map[string][]byte{"probe.hsaco": object, "tiles.bin": tiles, "probe.json": append(planText, '\n')}
	for _, name := range []string{"probe.hip", "launch.py", "README.md"} {
		if files[name], err = probeFiles.ReadFile("probe/" + name); err != nil {
			return fmt.Errorf("calibrate: %w", err)
		}
	}
	if err := checkFolder(dir, files); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	for name, data := range files {
		mode := fs.FileMode(0o644)
		if name == "launch.py" {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, mode); err != nil {
			return fmt.Errorf("calibrate: %w", err)
		}
	}
	return nil
}

// checkFolder refuses a folder in which there is something else.
func checkFolder(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	for _, e := range entries {
		if _, ours := files[e.Name()]; !ours {
			return fmt.Errorf("calibrate: folder %s already holds %s: choose a new or empty folder", dir, e.Name())
		}
	}
	return nil
}
