package kernels

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Matcher tells which subjects a glob names. It is matched against the name
// ("hip/mfma-split"), the name, target and wiring as String writes them
// ("hip/mfma-split gfx942 table"), and the same with colons
// ("hip/mfma-split:gfx942:table"). In it * stands for any characters, / among
// them, ? for one, and [a-z] for one of a set. An empty glob is every subject.
func Matcher(glob string) (func(*Subject) bool, error) {
	if glob == "" {
		return func(*Subject) bool { return true }, nil
	}
	re, err := globRegexp(glob)
	if err != nil {
		return nil, err
	}
	return func(s *Subject) bool {
		return re.MatchString(s.Name) || re.MatchString(s.String()) || re.MatchString(strings.ReplaceAll(s.String(), " ", ":"))
	}, nil
}

// Match gives the subjects that a glob names, in their order: see Matcher. It
// is an error when there are none.
func Match(glob string, subjects []*Subject) ([]*Subject, error) {
	match, err := Matcher(glob)
	if err != nil {
		return nil, err
	}
	var out []*Subject
	for _, s := range subjects {
		if match(s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no subject matches %q: there are %s", glob, strings.Join(names(subjects), ", "))
	}
	return out, nil
}

func globRegexp(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '[':
			end := strings.IndexByte(glob[i:], ']')
			if end < 2 {
				return nil, fmt.Errorf("subject %q: [ has no ] or nothing between: write [a-z], or * and ? alone", glob)
			}
			b.WriteString(glob[i : i+end+1])
			i += end
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile(b.String() + "$")
	if err != nil {
		return nil, fmt.Errorf("subject %q is not a pattern: write *, ? or [a-z]", glob)
	}
	return re, nil
}

// names are the distinct names of subjects, in their order.
func names(subjects []*Subject) []string {
	var out []string
	for _, s := range subjects {
		if !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
	}
	if out == nil {
		return []string{"none"}
	}
	return out
}
