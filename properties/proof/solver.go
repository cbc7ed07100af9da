package proof

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// solver is an SMT solver on this machine.
type solver struct {
	name, path, version string
	flags               flags
}

// flags are those for an input of a theory. Again says that the input is one
// query that was left undecided before.
type flags func(th theory, perQuery time.Duration, again bool) []string

var solverFlags = map[string]flags{
	"z3": func(_ theory, d time.Duration, _ bool) []string {
		return []string{"-smt2", "-in", fmt.Sprintf("-t:%d", d.Milliseconds())}
	},
	"cvc5": func(th theory, d time.Duration, again bool) []string {
		f := []string{"--lang=smt2", "--incremental", fmt.Sprintf("--tlimit-per=%d", d.Milliseconds())}
		// In the case splits of div over integers its default loses itself
		// more often than the plain choice; over vectors less often.
		if th.bits == again {
			f = append(f, "--decision=internal")
		}
		return f
	},
}

// Solvers are the SMT solvers that this package can use, by name.
func Solvers() []string { return []string{"z3", "cvc5"} }

// findSolver looks for a solver on PATH.
func findSolver(name string) (solver, error) {
	flags, ok := solverFlags[name]
	if !ok {
		return solver{}, fmt.Errorf("proof: no prover is named %q; there are %s, %s", name, goName, strings.Join(Solvers(), ", "))
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return solver{}, fmt.Errorf("proof: the solver %s is not on PATH: install it, or leave it out", name)
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return solver{}, fmt.Errorf("proof: %s --version: %w", path, err)
	}
	version, _, _ := strings.Cut(string(out), "\n")
	return solver{name, path, strings.TrimSpace(version), flags}, nil
}

// run gives the solver an input and calls answer with every answer to a
// check-sat, in order: "sat", "unsat" or "unknown". More than want is an error,
// and so is less.
func (s solver) run(ctx context.Context, input string, want int, flags []string, answer func(i int, a string)) error {
	cmd := exec.CommandContext(ctx, s.path, flags...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("proof: %s: %w", s.name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("proof: %s: %w", s.name, err)
	}
	answers, complaint := 0, ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch line := strings.TrimSpace(lines.Text()); line {
		case "sat", "unsat", "unknown":
			if answers < want {
				answer(answers, line)
			}
			answers++
		case "timeout", "":
		default:
			if complaint == "" {
				complaint = line
			}
		}
	}
	err = errors.Join(lines.Err(), cmd.Wait())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case complaint != "":
		return fmt.Errorf("proof: %s says %q after %d answers", s.name, complaint, answers)
	case err != nil:
		return fmt.Errorf("proof: %s: %w: %s", s.name, err, strings.TrimSpace(stderr.String()))
	case answers != want:
		return fmt.Errorf("proof: %s gave %d answers to %d queries", s.name, answers, want)
	}
	return nil
}
