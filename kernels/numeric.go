package kernels

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"mqaproof/model/profile"
)

// ProfileExt ends the name of a profile file; what else a manifest calls its
// profile is the name of one of package profile's.
const ProfileExt = ".json"

// ErrNoProfile says that a manifest names no numeric profile.
var ErrNoProfile = errors.New("no numeric profile is known")

// NumericProfile is the profile that the manifest names, by one of the names
// of package profile or as a file beside the manifest (profile.Write). The
// error is ErrNoProfile when it names none.
func (s *Subject) NumericProfile() (*profile.Profile, error) { return s.numeric() }

// bindProfile makes NumericProfile; dir is the manifest's folder.
func (s *Subject) bindProfile(dir fs.FS) {
	s.numeric = sync.OnceValues(func() (*profile.Profile, error) {
		name := s.Manifest.Profile
		switch {
		case name == "":
			return nil, fmt.Errorf("%s: %w: its manifest %s names none", s, ErrNoProfile, s.Source)
		case !isProfileFile(name):
			p, err := profile.Find(name, s.Target)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Source, err)
			}
			return p, nil
		}
		shown := path.Join(path.Dir(filepath.ToSlash(s.Source)), name)
		data, err := fs.ReadFile(dir, path.Clean(name))
		if err != nil {
			return nil, fmt.Errorf("%s: profile: %w", s.Source, err)
		}
		ps, err := profile.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shown, err)
		}
		for _, p := range ps {
			if p.Target != s.Target {
				continue
			}
			if p.Format != s.format {
				return nil, fmt.Errorf("%s: the profile takes %s, the kernel %s", shown, p.Format, s.format)
			}
			return p, nil
		}
		return nil, fmt.Errorf("%s: no profile in it is for %s", shown, s.Target)
	})
}

func isProfileFile(name string) bool { return strings.HasSuffix(name, ProfileExt) }

// profileProblem says what is wrong with a manifest's profile; "" when nothing
// is. A file is not opened.
func profileProblem(name string) string {
	if isProfileFile(name) {
		if filepath.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Sprintf("%q: give a file below the manifest's own folder", name)
		}
		return ""
	}
	for _, n := range profile.Names() {
		if n == name {
			return ""
		}
	}
	return fmt.Sprintf("%q is not known: give a profile file (*%s) beside the manifest or one of %s", name, ProfileExt, strings.Join(profile.Names(), ", "))
}
