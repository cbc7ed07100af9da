package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mqaproof/kernels/importer"
	"mqaproof/kernels/order"
)

func kernelsImport() *cobra.Command {
	var r importer.Request
	var asJSON, profiles bool
	c := &cobra.Command{
		Use:   "import amd-aiter|vllm|aiter",
		Short: "Compile production kernels from the packages on this machine",
		Long: `Compiles the paged MQA-logits kernels of a package to code objects and writes
them with their manifests into the cache folder, from where every command knows
them; then it runs each to derive its numeric profile. It needs Python with triton 3.9.0 (` + "`make tools`" + ` puts one into .venv) and
no GPU. The package is an installed copy, or is downloaded by name with pip, or
is a checkout, unpacked folder or wheel given with --path.

  amd-aiter  the four Triton kernels of the released package
  vllm       the block-flat Triton decode kernel of the released package, and
             the kernels of its metadata builder
  aiter      the Triton and Gluon kernels of a source checkout (needs --path)`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"amd-aiter", "vllm", "aiter"},
		RunE: func(c *cobra.Command, args []string) error {
			r.Package = args[0]
			progress := func(line string) { fmt.Fprintln(c.ErrOrStderr(), line) }
			written, err := importer.Import(c.Context(), r, progress)
			if profiles {
				err = errors.Join(err, order.Complete(c.Context(), written, progress))
			}
			if asJSON && len(written) > 0 {
				if jsonErr := printJSON(c, written); jsonErr != nil {
					return jsonErr
				}
				return err
			}
			for _, m := range written {
				fmt.Fprintln(c.OutOrStdout(), m)
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&r.Path, "path", "", "a checkout, unpacked package or wheel `file` to compile from")
	f.StringVar(&r.Target, "target", "gfx942", "`target` to compile for (gfx942, gfx950)")
	f.IntSliceVar(&r.Heads, "heads", nil, "numbers of `heads` (default 64)")
	f.IntSliceVar(&r.HeadDim, "head-dim", nil, "`head dims` (default 128)")
	f.IntSliceVar(&r.ChunkK, "chunk-k", nil, "positions a tile, `ChunkK` (default: the package's)")
	f.IntSliceVar(&r.SplitKV, "split-kv", nil, "programs that share a context, `SplitKV` (default: the package's)")
	f.IntSliceVar(&r.NextN, "next-n", nil, "`next_n` values, for kernels that have it compiled in (default 1,2,3)")
	f.IntSliceVar(&r.Page, "page", nil, "`page` sizes (default: the package's)")
	f.IntSliceVar(&r.Ratio, "ratio", nil, "compress `ratios` of the metadata kernels (default 1,2,4,128)")
	f.IntSliceVar(&r.BlockTableWidth, "block-table-width", nil, "block table `widths` of the metadata kernels (default 20,64)")
	f.StringVar(&r.Python, "python", "", "Python with triton (default: $MQAPROOF_PYTHON, .venv/bin/python, python3)")
	f.StringVar(&r.CacheDir, "cache", "", "cache `folder` (default: $MQAPROOF_CACHE, or the user's cache folder)")
	f.BoolVar(&profiles, "profiles", true, "derive the numeric profile of each kernel, by running it")
	f.BoolVar(&asJSON, "json", false, "print the manifests' paths as JSON")
	return c
}
