// Package plainfile reads files that a user names, and refuses what is no
// plain file or absurdly large before it can block or fill the memory.
package plainfile

import (
	"fmt"
	"io"
	"io/fs"
)

// Read gives the content of the file called name in fsys; shown is how
// messages call it. Devices, pipes and folders are refused without being
// opened, and so are more than limit bytes.
func Read(fsys fs.FS, name, shown string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is a %s, not a file", shown, kind(info.Mode()))
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, cause(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, cause(err))
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes, so not what is asked for", shown, limit)
	}
	return b, nil
}

// cause leaves out the path of a file error: the message has it already.
func cause(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
