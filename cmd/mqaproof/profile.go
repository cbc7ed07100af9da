package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mqaproof/kernels/order"
	"mqaproof/model/profile"
)

func kernelsProfile() *cobra.Command {
	var (
		sel  selection
		save bool
	)
	c := &cobra.Command{
		Use:   "profile NAME",
		Short: "Derive a kernel's numeric profile from what it computes",
		Long: `Runs the kernel on probes that tell orders of floating-point operations apart
(the tree in which heads are summed, fused or separate multiply-add, where the
scale is multiplied in, ...) and prints, as JSON, the one profile that gives its
logits to the bit. With --save the profile is written beside the manifest of an
imported or own kernel, which names it from then on.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := sel.one(args, c)
			if err != nil {
				return err
			}
			p, err := order.Derive(c.Context(), s, func(line string) { fmt.Fprintln(c.ErrOrStderr(), line) })
			if err != nil {
				return err
			}
			text, err := profile.Write(p)
			if err != nil {
				return err
			}
			if _, err := c.OutOrStdout().Write(text); err != nil || !save {
				return err
			}
			path, err := order.Save(s, p)
			if err == nil {
				fmt.Fprintln(c.ErrOrStderr(), "saved as", path)
			}
			return err
		},
	}
	sel.addFlags(c)
	c.Flags().BoolVar(&save, "save", false, "write the profile beside the kernel's manifest")
	return c
}
