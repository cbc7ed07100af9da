package isatest

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mqaproof/sim/isa"
)

const kernel = "../../../kernels/hip/obj/naive.gfx942.hsaco"

// bundle is a clang offload bundle of the named entries.
func bundle(names []string, data [][]byte) []byte {
	header := len(bundleMagic) + 8
	for _, n := range names {
		header += 24 + len(n)
	}
	out := binary.LittleEndian.AppendUint64([]byte(bundleMagic), uint64(len(names)))
	offset := header
	for i, n := range names {
		out = binary.LittleEndian.AppendUint64(out, uint64(offset))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(data[i])))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(n)))
		out = append(out, n...)
		offset += len(data[i])
	}
	for _, d := range data {
		out = append(out, d...)
	}
	return out
}

func TestBundleCountsAsItsObjects(t *testing.T) {
	object, err := os.ReadFile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bundle")
	b := bundle([]string{"host-x86_64-unknown-linux", "hip-amdgcn-amd-amdhsa--gfx942"}, [][]byte{[]byte("host"), object})
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if bare, bundled := AgreeWithObjdump(t, kernel), AgreeWithObjdump(t, path); bare != bundled {
		t.Errorf("%d instructions in the object, %d in the bundle", bare, bundled)
	}
}

func TestUnbundleRefusesDamage(t *testing.T) {
	whole := bundle([]string{"hip-amdgcn-amd-amdhsa--gfx942"}, [][]byte{[]byte("object")})
	for n := len(bundleMagic); n < len(whole); n++ {
		if objects, err := unbundle(whole[:n]); err == nil && len(objects) > 0 && bytes.Equal(objects[0], []byte("object")) {
			t.Errorf("%d of %d bytes hold the whole object", n, len(whole))
		}
	}
	if objects, err := unbundle(whole); err != nil || len(objects) != 1 {
		t.Errorf("got %d objects, %v", len(objects), err)
	}
}

// TestDisagreementsAreSeen shows that the comparison can fail.
func TestDisagreementsAreSeen(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"text", "v_mov_b32_e32 v1, v3", "LLVM \"v_mov_b32_e32 v1, v3\""},
		{"refused", ".long 0x7e020302", "LLVM refuses"},
		{"branch to another place", "s_branch there", "LLVM \"s_branch there\""},
	} {
		l, ok := parseLine("\t" + c.text + "   // 000000001A00: 7E020302 ")
		if !ok {
			t.Fatal("the line is not read")
		}
		if got := l.disagrees(isa.GFX942, map[string]uint64{"there": 4}); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
	branch, _ := parseLine("\ts_branch there   // 000000000100: BF820001 ")
	if why := branch.disagrees(isa.GFX942, map[string]uint64{"there": 0x108}); why != "" {
		t.Error(why)
	}
	if why := branch.disagrees(isa.GFX942, map[string]uint64{"there": 0x10c}); why == "" {
		t.Error("a branch to the wrong place agrees")
	}
}
