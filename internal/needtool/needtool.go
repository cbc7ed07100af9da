// Package needtool finds the outside tools that a test needs. A missing tool
// skips the test by name on a laptop and fails it in CI (CI=true).
package needtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Path is the full path of the tool called name.
func Path(t testing.TB, name string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		missing(t, name)
	}
	return p
}

// Python is an interpreter that can import the module: that of the
// environment variable MQAPROOF_PYTHON, of the repository's .venv, or python3
// on PATH.
func Python(t testing.TB, module string) string {
	t.Helper()
	for _, p := range []string{os.Getenv("MQAPROOF_PYTHON"), filepath.Join(root(), ".venv", "bin", "python"), "python3"} {
		if p == "" {
			continue
		}
		// Find the module without importing it: an import can take seconds.
		probe := exec.Command(p, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)", module)
		if probe.Run() == nil {
			return p
		}
	}
	missing(t, "python with "+module)
	return ""
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: run `make tools`", what)
	}
	t.Skipf("%s is missing: run `make tools`", what)
}

func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
