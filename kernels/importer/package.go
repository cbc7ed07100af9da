package importer

// pkg is a package that kernels can be imported from.
type pkg struct {
	name   string // as Request.Package and the package index have it
	module string // its top Python module
	pinned string // the version to download; "" for a package that is never downloaded
	files  []string
	plans  func(Request) []*plan
}

var packages = []*pkg{
	{
		name:   "amd-aiter",
		module: "aiter",
		pinned: "0.1.7.post2.dev18",
		files:  []string{aiterTriton, aiterTritonMoved},
		plans:  func(r Request) []*plan { return aiterTritonPlans("amd-aiter", r) },
	},
	{
		name:   "vllm",
		module: "vllm",
		pinned: "0.33.0",
		files:  []string{vllmSparse, vllmDecodeMetadata, vllmIndexer, vllmCompressor},
		plans:  vllmPlans,
	},
	{
		name:   "aiter",
		module: "aiter",
		files:  []string{aiterTriton, aiterTritonMoved, aiterGluon},
		plans: func(r Request) []*plan {
			return append(aiterTritonPlans("aiter", r), aiterGluonPlans("aiter", r)...)
		},
	},
}
