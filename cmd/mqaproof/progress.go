package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"mqaproof/campaign"
)

// progressWriter is where progress goes: never into a command's output.
var progressWriter = os.Stderr

// bar shows on a terminal how far the current subject is; elsewhere nothing.
type bar struct {
	mu      sync.Mutex
	current *progressbar.ProgressBar
	of      string
}

func newBar(quiet bool) *bar {
	if quiet || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	return &bar{}
}

func (b *bar) update(p campaign.Progress) {
	if b == nil {
		return
	}
	b.count(p.Subject.String(), p.Cases, p.Of)
	if p.Shrunk > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.current.Describe(fmt.Sprintf("%s: shrinking, %d runs", p.Subject, p.Shrunk))
	}
}

// count shows how many of total are done; a total of 0 is not known.
func (b *bar) count(name string, done, total int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of != name {
		b.clear()
		b.of = name
		if total == 0 {
			total = -1
		}
		b.current = newProgress(total, name)
	}
	_ = b.current.Set(done) // a bar that cannot be drawn is no reason to stop
}

func (b *bar) clear() {
	if b.current != nil {
		_ = b.current.Clear()
	}
	b.current = nil
}

// printing clears the bar, prints, and lets the bar come back by itself.
func (b *bar) printing(w io.Writer, text func(io.Writer)) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.clear()
		b.of = ""
	}
	text(w)
}
