// Command bench compares bulkcat with a bare loop over net/http at the same time on the same
// machine, and compares the ratios with targets.
//
//	bench [-short] [-readme FILE]        the tables of RESULTS.md, in less than ten minutes
//	bench growth [-millions 1,2,5,10]    time and memory as inputs grow
//	bench compare -base REVISION         this tree against another revision
//
// Everything that is measured is a process of its own, so that the system reports its processor
// time and its memory. The service runs on one core, the client on another. A run over an input
// is an arm. The arms of a measurement alternate in rounds, so that other load on the machine
// affects all of them. Ratios are computed round by round. A figure is the median of its rounds,
// with the minimum and the maximum.
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

// mode is a mode of this program; the others start the last three as processes.
type mode func(ctx context.Context, args []string, stdout io.Writer) error

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
	err := run(ctx, args, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
