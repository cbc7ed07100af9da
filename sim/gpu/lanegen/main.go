// Command lanegen writes the loops over the lanes of the instructions that
// work on each lane alone, in Go and for AVX2, and the tables that name them.
// Its argument is the directory to write to.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: lanegen DIR")
	}
	var b bytes.Buffer
	if err := page.Execute(&b, views()); err != nil {
		log.Fatal(err)
	}
	compares(&b)
	write("lanes_gen.go", b.Bytes())
	asm, decls := assembly()
	write("lanes_gen_amd64.go", decls)
	write("lanes_gen_amd64.s", asm)
	write("lanes_gen_amd64_test.go", replaced())
}

// write formats Go and writes a file.
func write(name string, text []byte) {
	if strings.HasSuffix(name, ".go") {
		out, err := format.Source(text)
		if err != nil {
			log.Fatalf("%s: %v\n%s", name, err, text)
		}
		text = out
	}
	if err := os.WriteFile(filepath.Join(os.Args[1], name), text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// view is an op as the template wants it.
type view struct {
	op
	Op, Fn, Alt, Dst, Srcs string
	Wide, Bitwise          bool
	Body, AltBody          string
	Accumulates            bool
}

func views() []view {
	var vs []view
	for _, o := range ops {
		dst, srcs, ok := strings.Cut(o.sig, "=")
		if !ok || len(dst) != 1 || len(srcs) < 1 || len(srcs) > 3 {
			log.Fatalf("%s: bad signature %q", o.name, o.sig)
		}
		v := view{op: o, Op: o.name, Dst: dst, Srcs: srcs, Bitwise: o.bitwise, Accumulates: o.accumulates}
		v.Wide = strings.ContainsAny(o.sig, "ld")
		v.Fn = "lane" + camel(o.name)
		v.Body = body(v, o.expr)
		if o.alt != "" {
			v.Alt = v.Fn + "NonIEEE"
			v.AltBody = body(v, o.alt)
		}
		vs = append(vs, v)
	}
	return vs
}

func camel(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(strings.ToLower(name), "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// body is the loop of one op.
func body(v view, expr string) string {
	var b strings.Builder
	switch {
	case v.Bitwise:
		args := []string{"a", "b", "c"}[:len(v.Srcs)]
		for _, p := range append([]string{"d"}, args...) {
			fmt.Fprintf(&b, "%sq := pairs(%s)\n", p, p)
		}
		b.WriteString("for i := range dq {\n")
		for j := range 2 {
			for k, p := range args {
				fmt.Fprintf(&b, "%c%d := %sq[i][%d]\n", 'x'+rune(k), j, p, j)
			}
			fmt.Fprintf(&b, "dq[i][%d] = %s\n", j, numbered(expr, j))
		}
		b.WriteString("}\n")
	case v.Wide:
		b.WriteString("for i := range d {\n")
		for k, t := range v.Srcs {
			lo, hi := "abc"[k:k+1], "pqr"[k:k+1]
			n := string('x' + rune(k))
			if t == 'l' || t == 'd' {
				fmt.Fprintf(&b, "%s := uint64(%s[i]) | uint64(%s[i])<<32\n", n, lo, hi)
			} else {
				fmt.Fprintf(&b, "%s := %s[i]\n", n, lo)
			}
			float(&b, n, t, expr)
		}
		if v.Dst == "l" || v.Dst == "d" {
			fmt.Fprintf(&b, "r := %s\nd[i], e[i] = uint32(r), uint32(r>>32)\n", expr)
		} else {
			fmt.Fprintf(&b, "d[i] = %s\n", expr)
		}
		b.WriteString("}\n")
	default:
		args := []string{"a", "b", "c"}[:len(v.Srcs)]
		for _, p := range append([]string{"d"}, args...) {
			fmt.Fprintf(&b, "%sq := quads(%s)\n", p, p)
		}
		b.WriteString("for i := range dq {\n")
		unroll := 4
		if len(expr) > 24 {
			unroll = 0 // a long body gains nothing from unrolling
		}
		if unroll == 0 {
			b.WriteString("for j := range dq[i] {\n")
			lane(&b, v, args, expr, "j")
			b.WriteString("}\n")
		}
		for j := range unroll {
			b.WriteString("{\n")
			lane(&b, v, args, expr, fmt.Sprint(j))
			b.WriteString("}\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func lane(b *strings.Builder, v view, args []string, expr, j string) {
	for k, p := range args {
		n := string('x' + rune(k))
		fmt.Fprintf(b, "%s := %sq[i][%s]\n", n, p, j)
		float(b, n, rune(v.Srcs[k]), expr)
	}
	fmt.Fprintf(b, "dq[i][%s] = %s\n", j, expr)
}

// float declares the float form of source n where the expression wants it.
func float(b *strings.Builder, n string, t rune, expr string) {
	up := strings.ToUpper(n)
	if !strings.Contains(expr, up) {
		return
	}
	switch t {
	case 'f':
		fmt.Fprintf(b, "%s := math.Float32frombits(%s)\n", up, n)
	case 'd':
		fmt.Fprintf(b, "%s := math.Float64frombits(%s)\n", up, n)
	}
}

// compares writes the comparisons and their table.
func compares(b *bytes.Buffer) {
	var table, funcs bytes.Buffer
	for _, t := range compareTypes {
		conditions := intConditions
		if t.float {
			conditions = floatConditions
		}
		names := make([]string, 0, len(conditions))
		for name := range conditions {
			names = append(names, name)
		}
		sort.Strings(names)
		wide := t.src == "l" || t.src == "d"
		for _, name := range names {
			suffix := name + "_" + t.name
			fn := "compare" + camel(suffix)
			fmt.Fprintf(&table, "{op: isa.V_CMP_%s, exec: isa.V_CMPX_%s, src: '%s', fn: %s},\n", suffix, suffix, t.src, fn)
			fmt.Fprintf(&funcs, "\nfunc %s(a, p, b, q *vreg) (m uint64) {\n", fn)
			switch cond := conditions[name]; cond {
			case "false":
				funcs.WriteString("return 0\n}\n")
			case "true":
				funcs.WriteString("return allLanes\n}\n")
			default:
				if wide {
					funcs.WriteString("for i := range a {\nx := uint64(a[i]) | uint64(p[i])<<32\ny := uint64(b[i]) | uint64(q[i])<<32\n")
				} else {
					funcs.WriteString("for i := range a {\nx, y := a[i], b[i]\n")
				}
				fmt.Fprintf(&funcs, "X, Y := %s, %s\n", fmt.Sprintf(t.conv, "x"), fmt.Sprintf(t.conv, "y"))
				fmt.Fprintf(&funcs, "m = m>>1 | bit63(%s)\n}\nreturn m\n}\n", cond)
			}
		}
	}
	fmt.Fprintf(b, "\n// compareOps are the comparisons of lanes.\nvar compareOps = []compareOp{\n%s}\n%s", table.Bytes(), funcs.Bytes())
}

// numbered renames x, y, z of a bitwise expression for lane pair j.
func numbered(expr string, j int) string {
	return strings.NewReplacer("x", fmt.Sprintf("x%d", j), "y", fmt.Sprintf("y%d", j), "z", fmt.Sprintf("z%d", j)).Replace(expr)
}

var page = template.Must(template.New("page").Parse(`// Code generated by lanegen. DO NOT EDIT.

package gpu

import (
	"math"
	"math/bits"

	"mqaproof/sim/isa"
)

// laneOps are the instructions that work on each lane alone.
var laneOps = []laneOp{
{{- range .}}
	{op: isa.{{.Op}}, dst: '{{.Dst}}', srcs: "{{.Srcs}}"
	{{- if .Wide}}, wide: {{.Fn}}{{if .Alt}}, wideNonIEEE: {{.Alt}}{{end}}
	{{- else}}, narrow: {{.Fn}}{{if .Alt}}, narrowNonIEEE: {{.Alt}}{{end}}{{end}}
	{{- if .Accumulates}}, accumulates: true{{end}}},
{{- end}}
}
{{range .}}
{{- if .Wide}}
func {{.Fn}}(d, e, a, p, b, q, c, r *vreg) {
{{.Body}}}
{{if .Alt}}
func {{.Alt}}(d, e, a, p, b, q, c, r *vreg) {
{{.AltBody}}}
{{end}}
{{- else}}
func {{.Fn}}(d, a, b, c *vreg) {
{{.Body}}}
{{if .Alt}}
func {{.Alt}}(d, a, b, c *vreg) {
{{.AltBody}}}
{{end}}
{{- end}}
{{end}}`))
