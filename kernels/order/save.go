package order

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mqaproof/kernels"
	"mqaproof/model/profile"
)

// Save writes the profile to a file beside the subject's manifest and has the
// manifest name it, in place of what it named before. Profiles of the kernel's
// other targets that the file holds are kept. It gives the file's path. A
// subject that is part of the program has no manifest to write to: an error.
//
// Loading the manifest again gives subjects with the profile; s keeps its own.
func Save(s *kernels.Subject, p *profile.Profile) (string, error) {
	if p.Target != s.Target {
		return "", fmt.Errorf("order: a profile for %s is none of %s", p.Target, s)
	}
	manifest := filepath.FromSlash(s.Source)
	text, err := os.ReadFile(manifest)
	if err != nil {
		return "", fmt.Errorf("order: saving the profile of %s: its manifest is no file to write to: %w", s, err)
	}
	if string(text) != s.ManifestText() {
		return "", fmt.Errorf("order: saving the profile of %s: %s has changed since it was read: derive it anew", s, manifest)
	}
	name := strings.TrimSuffix(filepath.Base(manifest), filepath.Ext(manifest)) + ".profile" + kernels.ProfileExt
	named, err := nameProfile(manifest, text, name)
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(manifest), name)
	profiles := []*profile.Profile{p}
	switch old, err := os.ReadFile(file); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	default:
		kept, err := profile.Read(old)
		if err != nil {
			return "", fmt.Errorf("order: %s is there, and damaged: remove it: %w", file, err)
		}
		for _, q := range kept {
			if q.Target != p.Target && s.Manifest.CodeObjects[q.Target] != "" {
				profiles = append(profiles, q)
			}
		}
	}
	data, err := profile.Write(profiles...)
	if err != nil {
		return "", err
	}
	// The profile first: a manifest never names a file that is not there.
	if err := writeFile(file, data); err != nil {
		return "", err
	}
	if bytes.Equal(named, text) {
		return file, nil
	}
	return file, writeFile(manifest, named)
}

var (
	profileLine = regexp.MustCompile(`(?m)^profile:.*$`)
	wiringsLine = regexp.MustCompile(`(?m)^wirings:`)
)

// nameProfile is the manifest's text with its profile being the file. All else,
// comments too, stays as it is.
func nameProfile(manifest string, text []byte, file string) ([]byte, error) {
	line := []byte("profile: " + file)
	var out []byte
	switch {
	case profileLine.Match(text):
		out = profileLine.ReplaceAllLiteral(text, line)
	case wiringsLine.Match(text):
		out = wiringsLine.ReplaceAllLiteral(text, append(line, "\nwirings:"...))
	default:
		return nil, fmt.Errorf("order: %s: no line to put the profile at: write %q into it", manifest, line)
	}
	m, err := kernels.ParseManifest(manifest, out)
	if err != nil {
		return nil, fmt.Errorf("order: naming the profile in a manifest: %w", err)
	}
	if m.Profile != file {
		return nil, fmt.Errorf("order: %s: its profile cannot be replaced: write %q into it", manifest, line)
	}
	return out, nil
}

// writeFile writes a file whole or not at all.
func writeFile(name string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
