// Command bench measures bulkcat against what a bare loop over net/http does in the same
// minute on the same machine, and holds the ratios against what is wanted.
//
//	bench [-short] [-readme FILE]        the tables of RESULTS.md, in less than ten minutes
//	bench growth [-millions 1,2,5,10]    time and memory as inputs grow
//	bench compare -base REVISION         this tree against another revision
//
// Everything measured is a process of its own, so that its processor time and its memory
// are the system's account and no estimate. The service keeps to one core and what asks
// it to another. A run over an input is an arm; the arms of a measurement take turns, in
// rounds, so that what the machine does besides meets all of them alike. Ratios are taken
// round by round; a figure is the median of its rounds, with the least and the most.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// mode is one of the things that this program can be; the last three are started by the
// others, as their processes.
type mode func(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error

var modes = map[string]mode{
	"growth":   growthMode,
	"compare":  compareMode,
	"serve":    serveMode,
	"bare":     bareMode,
	"pipeline": pipelineMode,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run, args := tableMode, os.Args[1:]
	if len(args) > 0 && modes[args[0]] != nil {
		run, args = modes[args[0]], args[1:]
	}
	err := run(ctx, args, os.Stdin, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
