// Command bulkcat categorizes long lists of websites and products through the
// Categorization Service interface, and writes Parquet, CSV or JSONL.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/bulkcat/bulkcat/pipeline"
)

func main() {
	boundMemory()
	silenceLibraries()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// memoryLimit is where the garbage collector begins to work harder, so that a run stays
// under 200 MiB whatever the size of its input. About 100 of it is alive: the store's
// cache and tables, the records on their way, a row group of Parquet.
const memoryLimit = 160 << 20

// garbage is how many percent of what is alive may lie about before the garbage collector
// looks for it. With Go's 100 a run over a fast service takes a tenth more instructions.
const garbage = 300

// boundMemory leaves limits of the user's own alone.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}

// run is the whole program: it gives the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, signaled := withSignals(context.Background())
	err := execute(ctx, args, stdin, stdout, stderr)
	status := exitStatus(err, signaled())
	if err != nil && !errors.Is(err, errUnanswered) {
		fmt.Fprintln(stderr, "bulkcat:", err)
	}
	return status
}

// withSignals ends the context at the first SIGINT or SIGTERM, so that the run stops in
// order. The second gets its default meaning back and ends the process at once, which
// is as safe as a kill: answers that were committed stay.
func withSignals(parent context.Context) (context.Context, func() os.Signal) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		s := <-signals
		signal.Reset(syscall.SIGINT, syscall.SIGTERM)
		cancel(&signalError{s})
	}()
	return ctx, func() os.Signal {
		var s *signalError
		if errors.As(context.Cause(ctx), &s) {
			return s.signal
		}
		return nil
	}
}

type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "received " + e.signal.String() }

// The exit statuses, as the help and the README list them.
const (
	exitComplete    = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnanswered  = 3
	exitStopped     = 75 // EX_TEMPFAIL of sysexits.h: try again later
	exitInterrupted = 130
	exitTerminated  = 143
)

// errUnanswered makes the exit status tell of records without an answer; the summary
// has said it in words.
var errUnanswered = errors.New("some records have no answer")

// usageError is a command line, or an environment, that cannot be right.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func exitStatus(err error, signal os.Signal) int {
	var (
		usage *usageError
		stop  *pipeline.StopError
		ended *signalError // a command without a pipeline
	)
	switch {
	case err == nil:
		return exitComplete
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errUnanswered):
		return exitUnanswered
	case errors.As(err, &ended), errors.As(err, &stop) && stop.Cause == pipeline.Interrupted:
		if signal == syscall.SIGTERM {
			return exitTerminated
		}
		return exitInterrupted
	case errors.As(err, &stop):
		return exitStopped
	}
	return exitFailed
}
