package stateful

import (
	"encoding/json"
	"fmt"
	"math/rand"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"
	"github.com/leanovate/gopter/gen"

	"mqaproof/sim/serving"
)

// expectation is what gopter's machine knows of an engine without looking at
// it.
type expectation struct {
	config  serving.Config
	arrived int // requests so far: no more can be alive
}

// command is one step, as gopter's machine sees it.
type command struct{ step serving.Step }

var _ commands.Command = command{}

// Run puts the machine through the step.
func (c command) Run(sut commands.SystemUnderTest) commands.Result {
	m := sut.(*machine)
	m.do(c.step)
	return m
}

// NextState counts arrivals.
func (c command) NextState(s commands.State) commands.State {
	e := s.(expectation)
	e.arrived += len(c.step.Arrive)
	return e
}

// PreCondition keeps steps that name a request from engines that have none.
func (c command) PreCondition(s commands.State) bool {
	names := len(c.step.Finish) + len(c.step.Preempt) + len(c.step.Short)
	return names == 0 || s.(expectation).arrived > 0
}

// PostCondition is that every property held, and that no request came out of
// nowhere. The state is the one after the step.
func (c command) PostCondition(s commands.State, r commands.Result) *gopter.PropResult {
	m, e := r.(*machine), s.(expectation)
	switch {
	case m.err != nil:
		return &gopter.PropResult{Status: gopter.PropError, Error: m.err}
	case m.violation == nil && m.alive > e.arrived:
		m.violation = nowhere("%d requests are alive; %d arrived", m.alive, e.arrived)
		m.violation.Property, m.violation.Step = "alive", len(m.sequence.Steps)-1
	case m.violation == nil:
		return &gopter.PropResult{Status: gopter.PropTrue}
	}
	return &gopter.PropResult{Status: gopter.PropFalse, Labels: []string{m.violation.String()}}
}

// String is the step as JSON.
func (c command) String() string {
	b, err := json.Marshal(c.step)
	if err != nil {
		return fmt.Sprintf("%+v", c.step)
	}
	return string(b)
}

// oneOf draws one of the values.
func oneOf[T any](vs []T) gopter.Gen {
	return gen.IntRange(0, len(vs)-1).Map(func(i int) T { return vs[i] })
}

func genConfig() gopter.Gen {
	return gopter.CombineGens(
		oneOf(nextNs), oneOf(worlds), oneOf(rowsModes), oneOf(ratios), oneOf(interleaves), oneOf(pageSizes),
		oneOf(modelPages), oneOf(extraPages), gen.IntRange(1, maxSeqs), oneOf(chunks), gen.IntRange(0, maxCaptures),
	).Map(func(v []any) serving.Config {
		return shape{
			nextN: v[0].(int), world: v[1].(int), rows: v[2].(serving.RowsMode), ratio: v[3].(int), interleaves: v[4].(int),
			pages: v[5].(int), modelPages: v[6].(int), extraPages: v[7].(int), seqs: v[8].(int), chunk: v[9].(int), captures: v[10].(int),
		}.config()
	})
}

// genCommand draws a step. Each kind of event is there or not, independently,
// so steps in which much happens at once are likely.
func genCommand(s commands.State) gopter.Gen {
	c := s.(expectation).config
	place := gen.IntRange(0, c.MaxSeqs-1)
	list := func(longest int, one gopter.Gen) gopter.Gen {
		return gen.IntRange(-longest, longest).FlatMap(func(n any) gopter.Gen {
			return gen.SliceOfN(max(n.(int), 0), one)
		}, nil)
	}
	return gopter.CombineGens(
		list(1, place), list(1, place), list(2, oneOf(prompts(c))), list(1, place), list(c.MaxSeqs, gen.IntRange(0, c.NextN-1)),
		gen.IntRange(0, 2),
	).Map(func(v []any) commands.Command {
		ints := func(i int) []int {
			if x := v[i].([]int); len(x) > 0 {
				return x
			}
			return nil
		}
		step := serving.Step{Accept: ints(4)}
		if v[5].(int) > 0 { // else only work
			step.Finish, step.Preempt, step.Arrive, step.Short = ints(0), ints(1), ints(2), ints(3)
		}
		return command{step}
	})
}

// commandsOf is gopter's machine over engines with the fault. each is given
// every engine that was run.
func (s *shared) commandsOf(f serving.Fault, each func(*machine)) commands.Commands {
	return &commands.ProtoCommands{
		InitialStateGen: genConfig().Map(func(c serving.Config) expectation { return expectation{config: c} }),
		GenCommandFunc:  genCommand,
		NewSystemUnderTestFunc: func(initial commands.State) commands.SystemUnderTest {
			m, err := s.machine(initial.(expectation).config, f)
			if err != nil {
				return &machine{err: err}
			}
			return m
		},
		DestroySystemUnderTestFunc: func(sut commands.SystemUnderTest) { each(sut.(*machine)) },
	}
}

// gopterSequence has gopter's machine make and run one sequence of the given
// length.
func (s *shared) gopterSequence(f serving.Fault, length int, seed int64) (*machine, error) {
	var ran *machine
	params := gopter.DefaultTestParametersWithSeed(seed)
	params.Rng = rand.New(rand.NewSource(seed)) // one goroutine: no lock
	params.MinSuccessfulTests, params.MinSize, params.MaxSize, params.MaxShrinkCount = 1, length, length, 0
	result := commands.Prop(s.commandsOf(f, func(m *machine) {
		if ran == nil { // what follows is gopter's shrinking, which we do ourselves
			ran = m
		}
	})).Check(params)
	switch {
	case ran == nil:
		return nil, fmt.Errorf("stateful: gopter made no sequence: %s %v", result.Status, result.Error)
	case ran.err == nil && ran.violation == nil && !result.Passed():
		return nil, fmt.Errorf("stateful: gopter: %s %v", result.Status, result.Error)
	}
	return ran, nil
}
