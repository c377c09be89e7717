// Command bulkcat categorizes long lists of websites and products through the
// Categorization Service interface, and writes Parquet, CSV or JSONL.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"

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
	s := streams{in: stdin, out: stdout, err: newConsole(stderr, args), signals: new(signals)}
	ctx := s.signals.watch(context.Background())
	err := execute(ctx, args, s)
	if err != nil && !errors.Is(err, errUnanswered) && !errors.Is(err, errPending) {
		s.err.fail(err)
	}
	return exitStatus(err, signalOf(ctx))
}

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

// errPending makes the exit status tell of a partial output, which a run completes.
var errPending = errors.New("some records are pending")

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
		return exitStatusOf(signal)
	case errors.As(err, &stop), errors.Is(err, errPending):
		return exitStopped
	}
	return exitFailed
}
