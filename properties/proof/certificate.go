package proof

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Result is what a prover says of a part.
type Result string

const (
	Proved  Result = "proved"  // it holds at every setting
	Refuted Result = "refuted" // a counterexample at every setting
	Unknown Result = "unknown" // claims were left undecided, none decided otherwise than stated
	Broken  Result = "broken"  // it does not hold, or holds where it is to be refuted
)

// Verdict is what a prover says of a part, and how much it looked at.
type Verdict struct {
	Part           string   `json:"part"`
	Sentence       string   `json:"sentence"`
	Stated         Result   `json:"stated"` // what the theorem says: proved or refuted
	Result         Result   `json:"result"`
	Settings       int      `json:"settings"`
	Claims         int      `json:"claims"`
	Undecided      int      `json:"undecided,omitempty"`
	Counterexample *Witness `json:"counterexample,omitempty"` // the smallest
	Detail         string   `json:"detail,omitempty"`
}

// Certificate is what a prover says of a theorem.
type Certificate struct {
	Theorem  string    `json:"theorem"`
	Sentence string    `json:"sentence"`
	Domain   Domain    `json:"domain"`
	Grid     string    `json:"grid"`    // which values up to the domain's bounds
	Lengths  string    `json:"lengths"` // which lengths, and how they are understood
	Prover   string    `json:"prover"`
	Version  string    `json:"version"`
	Seconds  float64   `json:"seconds"`
	Verdicts []Verdict `json:"verdicts"`
	Command  string    `json:"command,omitempty"` // proves it again from Input
	Input    string    `json:"input,omitempty"`   // file beside the certificate
	SHA256   string    `json:"sha256,omitempty"`  // of Input

	input string
}

// Holds says that no part is broken.
func (c Certificate) Holds() bool {
	for _, v := range c.Verdicts {
		if v.Result == Broken {
			return false
		}
	}
	return true
}

// Decided says that every part is proved or refuted as stated.
func (c Certificate) Decided() bool {
	for _, v := range c.Verdicts {
		if v.Result != v.Stated {
			return false
		}
	}
	return true
}

// verdict judges what a prover found.
func verdict(p Part, f finding) Verdict {
	v := Verdict{Part: p.Name, Sentence: p.Sentence, Stated: Proved, Settings: f.settings, Claims: f.claims, Undecided: f.unknown, Counterexample: f.refuted}
	if p.Refuted {
		v.Stated = Refuted
	}
	v.Result = v.Stated
	switch {
	case f.broken != "":
		v.Result, v.Detail = Broken, fmt.Sprintf("at %s %s", f.brokenAt, f.broken)
	case !p.Refuted && f.refuted != nil:
		v.Result, v.Detail = Broken, fmt.Sprintf("false at %s", f.refuted)
	case p.Refuted && f.held != nil:
		v.Result, v.Detail = Broken, fmt.Sprintf("not refuted at %s", f.held)
	case f.again > 0 && f.unknown == 0:
		v.Detail = fmt.Sprintf("%d queries decided in a process of their own, by remainders of the length where it is an integer", f.again)
	case f.unknown > 0 || f.claims == 0:
		v.Result = Unknown
	}
	return v
}

// write stores the certificate, and its input, in dir.
func (c *Certificate) write(dir string) error {
	name := c.Theorem + "." + c.Prover
	if c.input != "" {
		c.Input = name + ".smt2"
		c.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(c.input)))
		if err := os.WriteFile(filepath.Join(dir, c.Input), []byte(c.input), 0o666); err != nil {
			return fmt.Errorf("proof: %w", err)
		}
		c.Command += " < " + c.Input
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("proof: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o666); err != nil {
		return fmt.Errorf("proof: %w", err)
	}
	return nil
}
