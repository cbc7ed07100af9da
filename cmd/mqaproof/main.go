// Command mqaproof runs fp8 paged MQA-logits kernels for AMD GPUs in an
// emulator, holds them to a bit-exact model, and shrinks what it finds.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes: 0 all held; 1 a counterexample; 2 bad input or setup; 130
// stopped by the user, as shells have it, with nothing found until then.
const (
	exitFound   = 1
	exitBad     = 2
	exitStopped = 130
)

// errFound is the error of a command that ran well and found a counterexample.
var errFound = errors.New("a counterexample was found")

// errStopped is the error of a command that the user stopped and that has
// printed what it has.
var errStopped = errors.New("stopped")

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// The first Ctrl-C stops gently and keeps what was found; a second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { <-ctx.Done(); stop() }()

	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return exitFound
	case ctx.Err() != nil && (errors.Is(err, errStopped) || errors.Is(err, context.Canceled)):
		fmt.Fprintln(os.Stderr, "mqaproof: stopped")
		return exitStopped
	}
	fmt.Fprintf(os.Stderr, "mqaproof: %v\n", err)
	return exitBad
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mqaproof",
		Short: "Test fp8 paged MQA-logits kernels for AMD GPUs, without the GPU",
		Long: `mqaproof runs real gfx942 and gfx950 code objects of fp8 paged MQA-logits kernels
in a CDNA emulator, on generated batch shapes, and holds them to a bit-exact
model. What fails is shrunk to a few tokens, saved, and can be replayed.

Exit codes: 0 everything held; 1 a counterexample; 2 bad input or setup;
130 stopped by Ctrl-C with nothing found until then.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(fuzzCommand(), replayCommand(), shrinkCommand(), simulateCommand(), proveCommand(), exhaustCommand(), vectorsCommand(), calibrateCommand(), kernelsCommand(), corpusCommand())
	return root
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
