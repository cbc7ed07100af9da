package codeobject

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// bundleMagic starts an uncompressed bundle (clang-offload-bundler, "Bundled
// Binary File Layout"): magic, number of entries, then for each its offset,
// size, length of its ID and the ID.
const bundleMagic = "__CLANG_OFFLOAD_BUNDLE__"

func isBundle(data []byte) bool { return bytes.HasPrefix(data, []byte(bundleMagic)) }

// maxBundleEntries is far above what a fat binary for every target holds.
const maxBundleEntries = 1024

// bundleEntry is one device code object of a bundle.
type bundleEntry struct {
	id     string // "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"
	target string // "gfx942"
	data   []byte
}

// read parses the entry and checks that it is for the target that its ID says.
func (e bundleEntry) read() (*File, error) {
	f, err := readELF(e.data)
	if err != nil {
		return nil, fmt.Errorf("offload bundle entry %q: %w", e.id, err)
	}
	if f.Target != e.target {
		return nil, fmt.Errorf("offload bundle entry %q holds a code object for %s", e.id, f.Target)
	}
	return f, nil
}

// readBundle lists the device entries of a bundle; host entries are left out.
func readBundle(data []byte) ([]bundleEntry, error) {
	le := binary.LittleEndian
	pos := uint64(len(bundleMagic))
	size := uint64(len(data))
	next := func() (uint64, bool) {
		if size-pos < 8 {
			return 0, false
		}
		v := le.Uint64(data[pos:])
		pos += 8
		return v, true
	}
	truncated := errors.New("offload bundle is truncated in its header")

	n, ok := next()
	if !ok {
		return nil, truncated
	}
	if n > maxBundleEntries {
		return nil, fmt.Errorf("offload bundle is damaged: it claims %d entries", n)
	}
	var entries []bundleEntry
	for i := range n {
		off, ok1 := next()
		length, ok2 := next()
		idLen, ok3 := next()
		if !ok1 || !ok2 || !ok3 || idLen > size-pos {
			return nil, truncated
		}
		id := string(data[pos : pos+idLen])
		pos += idLen
		if off > size || length > size-off {
			return nil, fmt.Errorf("offload bundle is truncated: entry %d (%q) lies at bytes %d to %d of %d", i, id, off, off+length, size)
		}
		_, target, ok := strings.Cut(id, "amdgcn-amd-amdhsa-")
		if !ok {
			continue
		}
		// What follows is "-gfx942:features", or "gfx942" in the oldest form
		// ("openmp-amdgcn-amd-amdhsa-gfx942").
		target, _, _ = strings.Cut(strings.TrimLeft(target, "-"), ":")
		entries = append(entries, bundleEntry{id: id, target: target, data: data[off : off+length]})
	}
	if len(entries) == 0 {
		return nil, errors.New("offload bundle has no device code object")
	}
	return entries, nil
}

func targets(entries []bundleEntry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.target
		if !printable(e.target) {
			names[i] = strconv.Quote(e.target)
		}
	}
	return strings.Join(names, ", ")
}
