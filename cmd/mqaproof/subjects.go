package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mqaproof/kernels"
)

// selection is the flags that choose subjects.
type selection struct {
	subject    string
	wiring     string
	target     string
	manifest   string
	codeObject string
}

func (sel *selection) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&sel.subject, "subject", "", "only subjects whose name matches this `glob` (hip/*, 'aiter/*', ...)")
	f.StringVar(&sel.wiring, "wiring", "", "only this `wiring` (table, last-column, per-row, device)")
	f.StringVar(&sel.target, "target", "", "only this `target` (gfx942, gfx950)")
	f.StringVar(&sel.manifest, "manifest", "", "your own kernel: its manifest `file`")
	f.StringVar(&sel.codeObject, "code-object", "", "your own kernel: its code object `file` (else the one that the manifest names)")
}

// builtin: only the built-in subjects are wanted, nothing was chosen.
func (sel *selection) builtin() bool { return *sel == selection{} }

// subjects that the flags choose among the built-in and the imported ones, or
// the user's own. Imported kernels that cannot be used are named on warn.
func (sel *selection) subjects(warn io.Writer) ([]*kernels.Subject, error) {
	all, err := sel.all(warn)
	if err != nil {
		return nil, err
	}
	chosen := all
	if sel.subject != "" {
		if chosen, err = kernels.Match(sel.subject, all); err != nil {
			return nil, err
		}
	}
	chosen = keep(chosen, func(s *kernels.Subject) bool {
		return (sel.wiring == "" || s.Wiring == sel.wiring) && (sel.target == "" || s.Target == sel.target)
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no subject matches %s: see `mqaproof kernels list`", sel)
	}
	return chosen, nil
}

func (sel *selection) all(warn io.Writer) ([]*kernels.Subject, error) {
	switch {
	case sel.manifest != "":
		return kernels.Load(sel.manifest, sel.codeObject)
	case sel.codeObject != "":
		return nil, fmt.Errorf("--code-object %s needs --manifest, which says how the kernel is launched", sel.codeObject)
	}
	all, err := kernels.Builtin()
	if err != nil || sel.builtin() {
		return all, err
	}
	return append(all, imported(warn)...), nil
}

// imported subjects; those that cannot be read are named and left out.
func imported(warn io.Writer) []*kernels.Subject {
	dir, err := kernels.CacheDir()
	if err != nil {
		fmt.Fprintf(warn, "mqaproof: no imported kernels: %v\n", err)
		return nil
	}
	subjects, problems := kernels.Imported(dir)
	for _, p := range problems {
		fmt.Fprintf(warn, "mqaproof: left out: %v\n", p)
	}
	return subjects
}

func (sel *selection) String() string {
	var parts []string
	add := func(flag, v string) {
		if v != "" {
			parts = append(parts, "--"+flag+" "+v)
		}
	}
	add("subject", sel.subject)
	add("wiring", sel.wiring)
	add("target", sel.target)
	add("manifest", sel.manifest)
	return strings.Join(parts, " ")
}

func keep(subjects []*kernels.Subject, ok func(*kernels.Subject) bool) []*kernels.Subject {
	var kept []*kernels.Subject
	for _, s := range subjects {
		if ok(s) {
			kept = append(kept, s)
		}
	}
	return kept
}
