// Command bulkcat categorizes long lists of websites and products through the
// Categorization Service interface, and writes Parquet, CSV or JSONL.
package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
)

func main() {
	boundMemory()
	terminal.SilenceLibraries()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// memoryLimit is the size of the heap in bytes from which on the garbage collector works harder. A run then stays under 175 MB,
// whatever the size of its input. At most 100 MiB are live: the cache and tables of the store's index, the records in the
// window, a row group of Parquet.
const memoryLimit = 128 << 20

// garbage is the percentage of garbage, relative to the live heap, at which a collection starts. With Go's default of 100, a run
// over a fast service needs a tenth more instructions.
const garbage = 300

// boundMemory sets the limits of the garbage collector, unless the user has set them.
func boundMemory() {
	limitMemory(memoryLimit)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}

// limitMemory sets the size of the heap from which on the collector works harder, unless the user has set it.
func limitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}

// memoryOfShard is how much the limit grows for each shard, in bytes: the reader of a shard needs a page of each column, and
// rows. With the limit of a run, the collector would take most of the time of a merge of a hundred shards.
const memoryOfShard = 4 << 20

// boundMemoryOf raises the memory limit if the output is a folder of shards, which are read at the same time.
func boundMemoryOf(ctx context.Context, output string) {
	shards, err := runfiles.ReadShards(ctx, output) // the command reports the error
	if err == nil && shards != nil {
		limitMemory(memoryLimit + int64(shards.Count)*memoryOfShard)
	}
}

// run is the whole program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{in: stdin, out: stdout, err: terminal.New(stderr, wantsJSON(args)), signals: new(signals)}
	ctx := s.signals.watch(context.Background())
	err := execute(ctx, args, s)
	if !isReported(err) {
		s.err.Fail(err, slog.Bool("misconfigured", isMisconfigured(err)))
	}
	return exitStatus(err, signalOf(ctx))
}

// The exit statuses, which the help and the guide list.
const (
	exitComplete    = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnanswered  = 3
	exitBroken      = 4
	exitSpent       = 5
	exitStopped     = 75 // EX_TEMPFAIL of sysexits.h: try again later
	exitInterrupted = 130
	exitUnread      = 141 // the exit status in a shell of a program that SIGPIPE has ended
	exitTerminated  = 143
)

// errUnanswered is the error of a run with unanswered records, which the summary has reported.
var errUnanswered = errors.New("some records have no answer")

// errPending is the error of a run with a partial output.
var errPending = errors.New("some records are pending")

// isReported reports whether an error is nil or was printed.
func isReported(err error) bool {
	_, jobs := errors.AsType[*jobsError](err)
	return err == nil || jobs || errors.Is(err, errBrokenPipe) || errors.Is(err, errUnanswered) || errors.Is(err, errPending) || errors.Is(err, errDifferent)
}

// isMisconfigured reports whether the settings or the address of the service have to change before a run can succeed.
func isMisconfigured(err error) bool {
	var (
		misconfigured *pipeline.MisconfiguredError
		service       *pipeline.ServiceError
		unreachable   *pipeline.UnreachableError
		refusal       *client.Error
	)
	if errors.As(err, &refusal) && (refusal.Class == client.Auth || refusal.Class == client.Fatal) {
		return true
	}
	return errors.As(err, &misconfigured) || errors.As(err, &service) || errors.As(err, &unreachable)
}

// usageError is an error in the command line or the environment.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func exitStatus(err error, signal os.Signal) int {
	var (
		usage *usageError
		stop  *pipeline.StopError
		ended *signalError // of a command that is no run
		jobs  *jobsError

		broken *expect.BrokenError
	)
	switch {
	case err == nil:
		return exitComplete
	case errors.As(err, &jobs):
		return jobs.status
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &broken):
		return exitBroken
	case errors.Is(err, errUnanswered):
		return exitUnanswered
	case errors.As(err, &ended):
		return exitStatusOf(ended.signal)
	case errors.As(err, &stop) && stop.Cause == account.Interrupted:
		return exitStatusOf(signal)
	case errors.As(err, &stop) && stop.Cause == account.Budget:
		return exitSpent
	case errors.As(err, &stop), errors.Is(err, errPending):
		return exitStopped
	}
	return exitFailed
}
