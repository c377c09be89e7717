package flow

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/attempts"
	"github.com/bulkcat/bulkcat/pipeline/internal/cascade"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/internal/refresh"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Options describe what [Run] does. Kind and Classifications are required.
type Options struct {
	Kind              client.Kind
	Classifications   []Classification // each record is asked for in each of these; its rows are in this order
	account.Requested                  // the Sample must fit in memory
	Conduct
	SourceName string       // of the service, for the column `source`
	Basis      client.Basis // of answers that do not state their basis

	Unstored     bool          // outcomes are not stored: the store is only read from
	Shard        account.Shard // the records to ask for; zero for all
	Window       int64         // bytes of records between reading and writing; default 128 MiB
	WaitForQuota bool          // when the quota is used up, the run waits until there is quota again, instead of stopping
	FinishBy     time.Time     // the run stops in time to end by this deadline; zero for no deadline

	CheckCounts func(account.Snapshot) error // called before the output is published; may be nil
	Judge       func(account.Statuses) error // called after each task, with the statuses so far; an error stops the run; may be nil

	Folder  *output.Folder   // with the parts to keep; nil unless the output is a folder
	Refresh *refresh.Refresh // the stored answers to be asked again; nil for none
	Free    *cascade.Cascade // answers some requests for free; nil for none

	Schema writer.Schema
	Carry  []int // index in Record.Fields of each of Schema.Carry
	Typed  bool  // carried values that do not fit in Schema.CarryTypes are null in the output
}

// Conduct are the options of the user that change neither rows nor requests.
type Conduct struct {
	Retry     client.RetryPolicy
	Offline   bool          // ask nothing: records without a stored answer are pending
	KeepGoing bool          // every rejection is about the input, even if the service rejects every input; the run waits for a service that has never answered
	Strict    bool          // the first invalid record fails the run
	Grace     time.Duration // for requests in flight after the run is stopped; default 20s

	Hurry <-chan struct{} // closed to shorten the grace period to HurriedGrace, and to ask nothing after the run; nil for never
}

// Classification is a classification that records are asked for.
type Classification struct {
	Name  string
	Index *taxonomy.Index // of its taxonomy, in the language of the output; nil if the taxonomy is unknown
}

// Parts are the parts of a run. Source and Attempter are required.
type Parts struct {
	Source    selection.Source
	Interrupt func() // makes a waiting Read of Source return reader.ErrInterrupted; nil if no Read waits
	Attempter client.Attempter
	CloseIdle func()                                      // closes idle connections, called when the service refuses all requests; may be nil
	Limits    *limits.Controller                          // nil for 32 requests in flight and no other limit
	Usage     func(context.Context) (client.Usage, error) // asks how much quota is left; may be nil if Limits never ask
	Log       *slog.Logger                                // warnings and notices; nil for none
	Store     *answers.Store                              // nil if answers are not stored
	Sink      writer.Sink                                 // nil if rows are not written
	Each      Each                                        // takes the answers in input order; may be nil
	Monitor   *progress.Monitor                           // records the attempts of a hosted service; nil for none
	Attempts  *attempts.Log                               // takes each attempt; nil for none
	Price     money.Amount                                // of an attempt, for Attempts; 0 if unknown

	Counters *progress.Counters // nil for new ones
}

const (
	// defaultWindow has room for a quarter of a million records.
	defaultWindow = 128 << 20
	// DefaultInFlight suits the embedded service, which waits for so many pages at once.
	DefaultInFlight = 32
	// DefaultGrace is long enough for nearly every answer; a request that is cut off may be charged.
	DefaultGrace = 20 * time.Second
)

func (p Parts) withDefaults() Parts {
	p.Counters = cmp.Or(p.Counters, new(progress.Counters))
	p.Log = cmp.Or(p.Log, slog.New(slog.DiscardHandler))
	if p.Sink == nil {
		p.Sink = nowhere{}
	}
	if p.CloseIdle == nil {
		p.CloseIdle = func() {}
	}
	if p.Limits == nil {
		p.Limits = limits.New(limits.Options{Rate: math.Inf(1), InFlight: DefaultInFlight}, time.Now())
	}
	return p
}

// request returns the request of an input in the classification with the index class.
func (o *Options) request(input string, class int) (client.Request, error) {
	return selection.Normalizer(o.Requested).Request(o.Kind, input, o.Classifications[class].Name)
}

func (o Options) withDefaults() Options {
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	return o
}

// Each takes the answer to a record, once for each of the classifications in their order. It is called in input order, one call
// at a time, and the run waits for each call. The entries are in the order of the service. The error says why there is no
// answer: a *[normalize.InputError] or a *[reader.RowError] for an invalid record, a *[client.Error] for a rejected record, an
// *[AttemptsError] for a record that the next run asks again, or [ErrPending]. The record and the entries may be kept, but not
// changed; they share memory.
//
// If Each returns an error, the run stops with a [StopError] that wraps the error. Each session calls Each from the first
// record on, even if an earlier session has the answers.
type Each func(record reader.Record, entries []client.Entry, err error) error

// ErrPending is the error of a record whose answer is not in the store of an offline run.
var ErrPending = errors.New("the answer is not stored, and the run asks nothing")

// nowhere is the sink of a run that writes no rows.
type nowhere struct{}

func (nowhere) Write([]writer.Row) error         { return nil }
func (nowhere) Close() (writer.Published, error) { return writer.Published{}, nil }
func (nowhere) Abort() error                     { return nil }
