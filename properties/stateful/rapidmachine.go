package stateful

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"mqaproof/sim/serving"
)

// drawConfig draws a configuration with rapid.
func drawConfig(t *rapid.T) serving.Config {
	return shape{
		nextN:       rapid.SampledFrom(nextNs).Draw(t, "next_n"),
		world:       rapid.SampledFrom(worlds).Draw(t, "world"),
		rows:        rapid.SampledFrom(rowsModes).Draw(t, "rows"),
		ratio:       rapid.SampledFrom(ratios).Draw(t, "ratio"),
		interleaves: rapid.SampledFrom(interleaves).Draw(t, "interleaves"),
		pages:       rapid.SampledFrom(pageSizes).Draw(t, "pages"),
		modelPages:  rapid.SampledFrom(modelPages).Draw(t, "model_pages"),
		extraPages:  rapid.SampledFrom(extraPages).Draw(t, "extra_pages"),
		seqs:        rapid.IntRange(1, maxSeqs).Draw(t, "max_seqs"),
		chunk:       rapid.SampledFrom(chunks).Draw(t, "chunk"),
		captures:    rapid.IntRange(0, maxCaptures).Draw(t, "captures"),
	}.config()
}

// actions are what the rapid machine may do next. Each is one step of the
// live engine, and looks at how many requests it runs.
func (m *machine) actions() map[string]func(*rapid.T) {
	c := m.sequence.Engine
	prompt := rapid.SampledFrom(prompts(c))
	place := func(t *rapid.T, label string) int { return rapid.IntRange(0, max(m.running-1, 0)).Draw(t, label) }
	accept := func(t *rapid.T) []int {
		if rapid.Bool().Draw(t, "accept_all") {
			return nil
		}
		return rapid.SliceOfN(rapid.IntRange(0, c.NextN-1), 0, m.running).Draw(t, "accept")
	}
	return map[string]func(*rapid.T){
		"arrive": func(t *rapid.T) {
			m.do(serving.Step{Arrive: []int{prompt.Draw(t, "prompt")}, Accept: accept(t)})
		},
		"burst": func(t *rapid.T) {
			m.do(serving.Step{Arrive: rapid.SliceOfN(prompt, 2, c.MaxSeqs+2).Draw(t, "prompts")})
		},
		"decode":       func(t *rapid.T) { m.do(serving.Step{Accept: accept(t)}) },
		"decode again": func(t *rapid.T) { m.do(serving.Step{Accept: accept(t)}) },
		"finish":       func(t *rapid.T) { m.do(serving.Step{Finish: []int{place(t, "finish")}, Accept: accept(t)}) },
		"preempt": func(t *rapid.T) {
			s := serving.Step{Preempt: []int{place(t, "preempt")}, Accept: accept(t)}
			if rapid.Bool().Draw(t, "and_arrive") {
				s.Arrive = []int{prompt.Draw(t, "prompt")}
			}
			m.do(s)
		},
		"short": func(t *rapid.T) { m.do(serving.Step{Short: []int{place(t, "short")}, Accept: accept(t)}) },
	}
}

// rapidSequence draws an engine with rapid and acts on it, live, until a
// property fails or the sequence is long enough. It is a rapid state machine
// without rapid's own loop, which runs in tests alone.
func (s *shared) rapidSequence(f serving.Fault, length int) *rapid.Generator[*machine] {
	return rapid.Custom(func(t *rapid.T) *machine {
		m, err := s.machine(drawConfig(t), f)
		if err != nil {
			return &machine{err: err}
		}
		actions := m.actions()
		names := rapid.SampledFrom(slices.Sorted(maps.Keys(actions)))
		for len(m.sequence.Steps) < length && m.violation == nil && m.err == nil {
			actions[names.Draw(t, "action")](t)
		}
		return m
	})
}
