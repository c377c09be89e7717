package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Source gives the records of a run; io.EOF after the last. reader.Reader is one.
type Source interface {
	Read() (reader.Record, error)
}

// Options describe a run.
type Options struct {
	Kind           client.Kind
	Classification string
	Normalizer     client.Normalizer
	Retry          client.RetryPolicy
	SourceName     string // the service, for the rows' column `source`

	Workers   int                     // requests in flight at most; default 32
	Known     func(value string) bool // whether a category is in the taxonomy; nil if that is not known
	Manifest  *Manifest               // of an output folder: parts to keep, and to enter new ones into; nil for others
	Offline   bool                    // ask nothing: records without a stored answer are pending
	Strict    bool                    // the first invalid record fails the run
	Limit     int64                   // records read at most; 0 for all
	Window    int64                   // bytes of records between reading and writing; default 32 MiB
	MaxOutage time.Duration           // that the service may be out at a stretch; default 6h
	FinishBy  time.Time               // stop in time to be done by then; zero for no deadline
	Grace     time.Duration           // for requests in flight once the run is stopped; default 20s

	Schema writer.Schema
	Carry  []int // for each carried column its place in Record.Fields
}

// Parts are what a run works with.
type Parts struct {
	Source       Source
	Interrupt    func() // ends a Read of Source that waits for input, with reader.ErrInterrupted; nil where none does
	Categorizer  client.Categorizer
	Pacer        *client.Pacer               // of attempts; nil for no limit
	Allowance    *client.Allowance           // of attempts; nil for no bound
	WaitForQuota func(context.Context) error // waits until the account has something again; nil to stop
	Log          *slog.Logger                // of what the run meets on its way; nil for none
	Store        *answers.Store              // nil: answers are not kept
	Sink         writer.Sink
	Counters     *Counters // may be read while the run goes on
}

const (
	// defaultWindow keeps some fifty thousand records on their way, so that one that waits
	// a minute for its retry holds up nobody, and is no more than the store's cache.
	defaultWindow = 32 << 20
	// defaultWorkers suits a service that answers in 100 ms at 300 requests a second.
	defaultWorkers = 32
	// defaultGrace outlasts nearly every answer; a request cut off may have been paid.
	defaultGrace = 20 * time.Second
	// defaultMaxOutage waits out any maintenance, and leaves some of the night.
	defaultMaxOutage = 6 * time.Hour
)

func (o Options) withDefaults() Options {
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.MaxOutage <= 0 {
		o.MaxOutage = defaultMaxOutage
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	return o
}
