package order

import (
	"context"
	"errors"
	"fmt"

	"mqaproof/kernels"
)

// Complete derives and saves the profile of each kernel whose manifest names
// none, or names a file that is missing or damaged. Kernels that give no logits
// are passed over. One that fails does not keep the others away: the error then
// joins one line for each. Progress may be nil.
func Complete(ctx context.Context, manifests []string, progress func(string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	var problems []error
	for _, m := range manifests {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(problems, err)...)
		}
		if err := complete(ctx, m, progress); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func complete(ctx context.Context, manifest string, progress func(string)) error {
	// Saving changes the manifest, so it is read again for each target.
	done := map[string]bool{}
	for {
		s, err := next(manifest, done)
		if s == nil || err != nil {
			return err
		}
		done[s.Target] = true
		p, err := Derive(ctx, s, func(line string) { progress(s.Name + " " + s.Target + ": " + line) })
		if err != nil {
			return err
		}
		file, err := Save(s, p)
		if err != nil {
			return err
		}
		progress(fmt.Sprintf("%s %s: %s, saved as %s", s.Name, s.Target, p.Summary(), file))
	}
}

// next is a subject of the manifest that lacks a profile; nil when none does.
func next(manifest string, done map[string]bool) (*kernels.Subject, error) {
	subjects, err := kernels.Load(manifest, "")
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		if s.Manifest.Kind != kernels.Logits || done[s.Target] {
			continue
		}
		if _, err := s.NumericProfile(); err != nil {
			return s, nil
		}
	}
	return nil, nil
}
