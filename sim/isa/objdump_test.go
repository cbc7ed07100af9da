package isa_test

import (
	"os"
	"path/filepath"
	"testing"

	"mqaproof/sim/isa/isatest"
)

// TestAgreesOnBuiltinKernels decodes every instruction of our own kernels.
func TestAgreesOnBuiltinKernels(t *testing.T) {
	paths, err := filepath.Glob("../../kernels/hip/obj/*.hsaco")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no code objects in kernels/hip/obj")
	}
	agreeOnAll(t, paths)
}

// TestAgreesOnOtherCodeObjects decodes those of the folder that
// MQAPROOF_CODE_OBJECTS names, or of the importer's cache.
func TestAgreesOnOtherCodeObjects(t *testing.T) {
	dir := os.Getenv("MQAPROOF_CODE_OBJECTS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("no cache folder: %v", err)
		}
		dir = filepath.Join(cache, "mqaproof", "kernels")
	}
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && !d.IsDir() && (ext == ".hsaco" || ext == ".co") {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 && os.Getenv("MQAPROOF_CODE_OBJECTS") != "" {
		t.Fatalf("no code objects in %s, which MQAPROOF_CODE_OBJECTS names", dir)
	}
	if len(paths) == 0 {
		t.Skipf("no code objects in %s: set MQAPROOF_CODE_OBJECTS, or run `mqaproof kernels import`", dir)
	}
	agreeOnAll(t, paths)
}

func agreeOnAll(t *testing.T, paths []string) {
	n := 0
	for _, path := range paths {
		n += isatest.AgreeWithObjdump(t, path)
	}
	t.Logf("%d instructions of %d code objects agree", n, len(paths))
}
