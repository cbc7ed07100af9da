package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// fileProfile is a profile as a file for people holds it.
type fileProfile struct {
	Name       string            `json:"name"`
	Target     string            `json:"target"`
	About      string            `json:"about,omitempty"`
	Format     string            `json:"format"`                // e4m3fn, e4m3fnuz
	MatrixCore string            `json:"matrix_core,omitempty"` // a rule's name; none: float32
	Unverified string            `json:"unverified,omitempty"`  // why, for people: it follows from the rule and is not read
	Step       int               `json:"step,omitempty"`        // dims of one instruction
	Dims       map[string]string `json:"dims,omitempty"`        // head_dim -> order: "0-7 16-23 8-15 24-31", with | between chains
	Dots       map[string]string `json:"dots,omitempty"`        // head_dim -> tree, of products or of chains
	Scale      string            `json:"scale"`
	Relu       string            `json:"relu"`
	FromZero   bool              `json:"from_zero"` // no sum is -0
	Sum        *fileSum          `json:"sum,omitempty"`
	Heads      map[string]string `json:"heads,omitempty"` // number of heads -> tree
}

type fileSum struct {
	Partials int        `json:"partials"`
	Fused    bool       `json:"fused"`
	Folds    []fileFold `json:"folds,omitempty"`
}

type fileFold struct {
	Stride int `json:"stride"`
	Count  int `json:"count"`
}

var (
	scaleNames = [...]string{
		ScaleLast: "last", ScaleBeforeRelu: "before relu", ScaleAfterRelu: "after relu",
		ScaleIntoWeight: "into weight", ScaleAfterWeight: "after weight",
	}
	reluNames = [...]string{ReluZero: "nan is 0", ReluNaN: "nan is nan"}
)

func (s Scale) String() string { return nameOf(scaleNames[:], int(s)) }
func (r Relu) String() string  { return nameOf(reluNames[:], int(r)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// MarshalJSON writes the profile as Read reads it.
func (p *Profile) MarshalJSON() ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	f := fileProfile{
		Name: p.Name, Target: p.Target, About: p.About, Format: p.Format.String(),
		Step: p.Step, Scale: p.Scale.String(), Relu: p.Relu.String(), FromZero: p.Sum.FromZero,
		Dots: treesText(p.Dots), Heads: treesText(p.Heads),
	}
	if p.Rule != nil {
		named, err := matrixcore.Find(p.Rule.Name)
		if err != nil || *named != *p.Rule {
			return nil, fmt.Errorf("profile %s: matrix-core rule %q is not the one of that name", p, p.Rule.Name)
		}
		f.MatrixCore, f.Unverified = p.Rule.Name, p.Caveat()
	}
	if p.Dims != nil {
		f.Dims = map[string]string{}
		for dim, chains := range p.Dims {
			var text []string
			for _, c := range chains {
				text = append(text, orderText(c))
			}
			f.Dims[strconv.Itoa(dim)] = strings.Join(text, " | ")
		}
	}
	if p.Heads == nil {
		f.Sum = &fileSum{Partials: p.Sum.Partials, Fused: p.Sum.Fused}
		for _, fold := range p.Sum.Folds {
			f.Sum.Folds = append(f.Sum.Folds, fileFold(fold))
		}
	}
	return json.Marshal(f)
}

// UnmarshalJSON is the inverse of MarshalJSON and checks what it reads.
func (p *Profile) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var f fileProfile
	if err := d.Decode(&f); err != nil {
		return err
	}
	q := Profile{Name: f.Name, Target: f.Target, About: f.About, Step: f.Step}
	bad := func(field string, err error) error { return fmt.Errorf("profile %q: %s: %w", f.Name, field, err) }
	var err error
	if q.Format, err = formatNamed(f.Format); err != nil {
		return bad("format", err)
	}
	if f.MatrixCore != "" {
		if q.Rule, err = matrixcore.Find(f.MatrixCore); err != nil {
			return bad("matrix_core", err)
		}
	}
	scale, err := find(scaleNames[:], f.Scale)
	if err != nil {
		return bad("scale", err)
	}
	relu, err := find(reluNames[:], f.Relu)
	if err != nil {
		return bad("relu", err)
	}
	q.Scale, q.Relu, q.Sum.FromZero = Scale(scale), Relu(relu), f.FromZero
	if q.Dots, err = parseTrees(f.Dots); err != nil {
		return bad("dots", err)
	}
	if q.Heads, err = parseTrees(f.Heads); err != nil {
		return bad("heads", err)
	}
	if f.Dims != nil {
		q.Dims = map[int][][]int{}
		for dim, text := range f.Dims {
			n, err := strconv.Atoi(dim)
			if err != nil {
				return bad("dims", err)
			}
			for part := range strings.SplitSeq(text, "|") {
				chain, err := parseOrder(part)
				if err != nil {
					return bad("dims", err)
				}
				q.Dims[n] = append(q.Dims[n], chain)
			}
		}
	}
	switch {
	case (f.Sum == nil) == (f.Heads == nil):
		return bad("sum", fmt.Errorf("give either sum or heads"))
	case f.Sum != nil:
		q.Sum.Partials, q.Sum.Fused = f.Sum.Partials, f.Sum.Fused
		for _, fold := range f.Sum.Folds {
			q.Sum.Folds = append(q.Sum.Folds, Fold(fold))
		}
	}
	if err := q.Check(); err != nil {
		return err
	}
	*p = q
	return nil
}

// file is what a profile file holds: a kernel's profile on each of its targets.
type file struct {
	Profiles []*Profile `json:"profiles"`
}

// Write is a file for people that holds the profiles.
func Write(profiles ...*Profile) ([]byte, error) {
	data, err := json.MarshalIndent(file{profiles}, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// Read is the profiles of a file.
func Read(data []byte) ([]*Profile, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var f file
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a profile file: %w", err)
	}
	if d.More() {
		return nil, fmt.Errorf("not a profile file: more follows its end")
	}
	for i, p := range f.Profiles {
		if p == nil || slices.ContainsFunc(f.Profiles[:i], func(o *Profile) bool { return o.Target == p.Target }) {
			return nil, fmt.Errorf("not a profile file: profile %d is missing or its target is there twice", i)
		}
	}
	return f.Profiles, nil
}

func formatNamed(name string) (fp8.Format, error) {
	for _, f := range []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ} {
		if f.String() == name {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%q is not known: %s and %s are", name, fp8.E4M3FN, fp8.E4M3FNUZ)
}

func find(names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("%q is not known: %s are", name, strings.Join(names, ", "))
}

func treesText(trees map[int]*Tree) map[string]string {
	if trees == nil {
		return nil
	}
	text := map[string]string{}
	for n, t := range trees {
		text[strconv.Itoa(n)] = t.String()
	}
	return text
}

func parseTrees(text map[string]string) (map[int]*Tree, error) {
	if text == nil {
		return nil, nil
	}
	trees := map[int]*Tree{}
	for key, value := range text {
		n, err := strconv.Atoi(key)
		if err != nil {
			return nil, err
		}
		if trees[n], err = ParseTree(value); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return trees, nil
}

// orderText writes runs of more than two numbers as "first-last".
func orderText(order []int) string {
	var parts []string
	for i := 0; i < len(order); {
		n := 1
		for i+n < len(order) && order[i+n] == order[i]+n {
			n++
		}
		if n > 2 {
			parts = append(parts, fmt.Sprintf("%d-%d", order[i], order[i+n-1]))
		} else {
			n = 1
			parts = append(parts, strconv.Itoa(order[i]))
		}
		i += n
	}
	return strings.Join(parts, " ")
}

func parseOrder(text string) ([]int, error) {
	var order []int
	for _, part := range strings.Fields(text) {
		first, last, isRun := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		hi := lo
		if err == nil && isRun {
			hi, err = strconv.Atoi(last)
		}
		if err != nil || hi < lo || hi > maxDim {
			return nil, fmt.Errorf("%q is neither a dim nor a run of dims such as 8-15", part)
		}
		for d := lo; d <= hi; d++ {
			order = append(order, d)
		}
	}
	return order, nil
}
