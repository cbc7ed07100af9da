package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"mqaproof/kernels"
	"mqaproof/sim/codeobject"
	"mqaproof/sim/isa"
)

func kernelsCommand() *cobra.Command {
	c := &cobra.Command{Use: "kernels", Short: "List, show, disassemble, profile and import kernels"}
	c.AddCommand(kernelsList(), kernelsShow(), kernelsDisasm(), kernelsProfile(), kernelsImport())
	return c
}

func kernelsList() *cobra.Command {
	var sel selection
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the built-in and imported subjects", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			subjects, err := sel.known(c.ErrOrStderr())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c, subjectsJSON(subjects))
			}
			t := newTable("subject", "target", "wiring", "fault", "about")
			for _, s := range subjects {
				t.AppendRow(table.Row{s.Name, s.Target, s.Wiring, s.Fault(), s.Manifest.About})
			}
			fmt.Fprintln(c.OutOrStdout(), t.Render())
			return nil
		},
	}
	sel.addFlags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// known is every subject, imported ones too, that the flags choose.
func (sel *selection) known(warn io.Writer) ([]*kernels.Subject, error) {
	if sel.builtin() {
		all, err := kernels.Builtin()
		return append(all, imported(warn)...), err
	}
	return sel.subjects(warn)
}

type kernelJSON struct {
	Subject string              `json:"subject"`
	Target  string              `json:"target"`
	Wiring  string              `json:"wiring"`
	Fault   string              `json:"fault,omitempty"`
	About   string              `json:"about"`
	SHA256  string              `json:"sha256"`
	Kernels []codeobject.Kernel `json:"kernels,omitempty"`
}

func subjectsJSON(subjects []*kernels.Subject) []kernelJSON {
	out := []kernelJSON{}
	for _, s := range subjects {
		out = append(out, kernelJSON{Subject: s.Name, Target: s.Target, Wiring: s.Wiring, Fault: s.Fault(), About: s.Manifest.About, SHA256: s.Hash()})
	}
	return out
}

func kernelsShow() *cobra.Command {
	var sel selection
	var asJSON bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a kernel's manifest and what its code object says", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := sel.one(args, c)
			if err != nil {
				return err
			}
			f := s.CodeObject()
			if asJSON {
				j := subjectsJSON([]*kernels.Subject{s})[0]
				j.Kernels = f.Kernels
				return printJSON(c, j)
			}
			w := c.OutOrStdout()
			fmt.Fprintf(w, "%s: %s\n\n", s, s.Manifest.About)
			fmt.Fprintf(w, "%s\ncode object: %s%s, version %d, sha256 with manifest %s\n", s.ManifestText(), f.Target, f.Features, f.ABIVersion, s.Hash())
			for _, k := range f.Kernels {
				fmt.Fprintf(w, "\nkernel %s: %d VGPRs, %d AGPRs, %d SGPRs, %d bytes LDS, %d bytes scratch a lane, %d bytes kernarg\n",
					k.Name, k.VGPRs, k.AGPRs, k.SGPRs, k.LDS, k.Scratch, k.KernargSize)
				t := newTable("offset", "size", "kind", "name")
				for _, a := range k.Args {
					t.AppendRow(table.Row{a.Offset, a.Size, a.ValueKind, a.Name})
				}
				fmt.Fprintln(w, t.Render())
			}
			return nil
		},
	}
	sel.addFlags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// one subject, by the argument or the flags; its wiring does not matter.
func (sel *selection) one(args []string, c *cobra.Command) (*kernels.Subject, error) {
	if len(args) > 0 {
		if sel.subject != "" {
			return nil, fmt.Errorf("name the kernel once: %q or --subject %s", args[0], sel.subject)
		}
		sel.subject = args[0]
	}
	if sel.builtin() {
		return nil, fmt.Errorf("name a kernel: see `mqaproof kernels list`")
	}
	subjects, err := sel.subjects(c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	for _, s := range subjects[1:] {
		if s.Name != subjects[0].Name {
			return nil, fmt.Errorf("%q names more than one kernel (%s and %s): name one", sel.subject, subjects[0].Name, s.Name)
		}
	}
	return subjects[0], nil
}

func kernelsDisasm() *cobra.Command {
	var sel selection
	var asJSON bool
	c := &cobra.Command{
		Use: "disasm NAME", Short: "Disassemble a kernel's code object", Args: cobra.MaximumNArgs(1),
		Example: `  mqaproof kernels disasm hip/mfma-split --target gfx942
  mqaproof kernels disasm --manifest my.yaml --code-object my.hsaco`,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := sel.one(args, c)
			if err != nil {
				return err
			}
			return disassemble(c, s, asJSON)
		},
	}
	sel.addFlags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: one object an instruction")
	return c
}

func disassemble(c *cobra.Command, s *kernels.Subject, asJSON bool) error {
	type line struct {
		Kernel string `json:"kernel,omitempty"`
		Addr   uint64 `json:"address"`
		Text   string `json:"text"`
	}
	target, err := isa.ParseTarget(s.Target)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	starts := map[uint64]string{}
	for _, k := range s.CodeObject().Kernels {
		starts[k.Entry] = k.Name
	}
	lines := []line{}
	for _, seg := range s.CodeObject().Segments {
		if !seg.Executable {
			continue
		}
		isa.Disassemble(target, seg.Data, seg.Addr, func(in isa.Inst, err error) bool {
			text := in.String()
			if err != nil {
				text = fmt.Sprintf(".long %#08x // %v", in.Raw[0], err)
			}
			name := starts[in.Addr]
			if asJSON {
				lines = append(lines, line{name, in.Addr, text})
				return true
			}
			if name != "" {
				fmt.Fprintf(w, "\n%s:\n", name)
			}
			fmt.Fprintf(w, "%8x  %s\n", in.Addr, text)
			return true
		})
	}
	if asJSON {
		return printJSON(c, lines)
	}
	return nil
}
