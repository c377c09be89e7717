package flow

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/attempts"
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
	Classifications   []Classification // what each record is asked for; its rows come in this order
	account.Requested                  // its Sample must fit in memory
	Conduct
	SourceName string       // of the service, for the column `source`
	Basis      client.Basis // of the answers that do not say what they rest on

	Unstored     bool          // outcomes are not stored: the store is only read from
	Shard        account.Shard // the records to ask for; zero for all
	Window       int64         // bytes of records between reading and writing; default 128 MiB
	WaitForQuota bool          // when the quota is used up, wait until there is quota again, instead of stopping
	FinishBy     time.Time     // stop in time to be done by then; zero for no deadline

	CheckCounts func(account.Snapshot) error // called before the output is published; may be nil
	Judge       func(account.Statuses) error // called with the statuses of the first records, again with each further one: an error stops the run; may be nil

	Folder  *output.Folder   // with the parts to keep; nil unless the output is a folder
	Refresh *refresh.Refresh // the stored answers to be asked again; nil for none
	Free    Free             // answers some requests for nothing; nil for none

	Schema writer.Schema
	Carry  []int // index in Record.Fields of each of Schema.Carry
	Typed  bool  // carried values that do not fit in Schema.CarryTypes are null in the output
}

// Conduct are the options of the user that decide neither rows nor requests, but how the run behaves.
type Conduct struct {
	Retry     client.RetryPolicy
	Offline   bool          // ask nothing: records without a stored answer are pending
	KeepGoing bool          // every rejection is about the input, even if the service rejects every input; a service that has never answered is waited for
	Strict    bool          // the first invalid record fails the run
	Grace     time.Duration // for requests in flight once the run is stopped; default 20s

	Hurry <-chan struct{} // closed to shorten the grace period to HurriedGrace, and to ask nothing after the run; nil for never
}

// Free answers requests for nothing. Its methods are called by several goroutines.
type Free interface {
	// Answer answers a request that has no stored outcome, and names the source of the answer; false if the request is to be
	// asked.
	Answer(client.Request) (a client.Answer, source string, ok bool)
	// Count takes the outcome of a request that was asked, when it is durable. An error stops the run, whose requests in
	// flight get the grace period: no output is published, and Run returns the error as it is.
	Count(client.Request, answers.Outcome) error
}

// Classification is a classification that records are asked for.
type Classification struct {
	Name string

	// Category gives what is written of a category by the value in answers, and says whether the taxonomy has
	// the category. Nil if the taxonomy is not known.
	Category func(value string) (c Category, known bool)
}

// Category is what a taxonomy says of a category.
type Category struct {
	ID    string // "" if it has none
	Local string // its path in the language of the output; "" without a language
}

// Parts are the parts of a run. Source and Attempter are required.
type Parts struct {
	Source    selection.Source
	Interrupt func() // ends a Read of Source that waits for input with reader.ErrInterrupted; nil if none waits
	Attempter client.Attempter
	CloseIdle func()                                      // closes idle connections to the service, called when it refuses everything; may be nil
	Limits    *limits.Controller                          // nil for 32 requests in flight and no other limit
	Usage     func(context.Context) (client.Usage, error) // how much quota is left; may be nil if Limits never ask
	Log       *slog.Logger                                // warnings and notices; nil for none
	Store     *answers.Store                              // nil: answers are not kept
	Sink      writer.Sink                                 // nil if rows are not written
	Each      Each                                        // takes the answers in input order; may be nil
	Begins    func()                                      // called before each attempt, by several goroutines; may be nil
	Attempted func()                                      // called after each attempt, by several goroutines; may be nil
	Attempts  *attempts.Log                               // takes each attempt; nil for none
	Price     money.Amount                                // of an attempt, for Attempts; 0 if unknown

	Counters *progress.Counters // nil for new ones
}

const (
	// defaultWindow holds a quarter of a million records.
	defaultWindow = 128 << 20
	// DefaultInFlight suits the embedded service, which waits for that many pages.
	DefaultInFlight = 32
	// DefaultGrace is longer than nearly every answer takes; a request that is cut off may be charged.
	DefaultGrace = 20 * time.Second
)

func (p Parts) withDefaults() Parts {
	if p.Counters == nil {
		p.Counters = new(progress.Counters)
	}
	if p.Sink == nil {
		p.Sink = nowhere{}
	}
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.CloseIdle == nil {
		p.CloseIdle = func() {}
	}
	if p.Begins == nil {
		p.Begins = func() {}
	}
	if p.Attempted == nil {
		p.Attempted = func() {}
	}
	if p.Limits == nil {
		p.Limits = limits.New(limits.Options{Rate: math.Inf(1), InFlight: DefaultInFlight}, time.Now())
	}
	return p
}

// request gives the request of an input in one of the classifications.
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

// Each takes the answer to a record, once for each of the classifications in their order. It is called in input order,
// one call at a time; the run waits for it. The entries are those of the service, in its order. The error says why there
// is no answer: an *[normalize.InputError] or a *[reader.RowError] for an invalid record, a *[client.Error] for a rejected
// one, an *[AttemptsError] for one that the next run asks again, or [ErrPending]. The record and the entries may be kept,
// but not changed; they share memory.
//
// If Each returns an error, the run stops with a [StopError] that wraps the error. Each session calls Each from the first
// record on, also when an earlier session has the answers.
type Each func(record reader.Record, entries []client.Entry, err error) error

// ErrPending is the error of a record whose answer an offline run has not found in the store.
var ErrPending = errors.New("the answer is not stored, and the run asks nothing")

// nowhere is the sink of a run that writes no rows.
type nowhere struct{}

func (nowhere) Write([]writer.Row) error         { return nil }
func (nowhere) Close() (writer.Published, error) { return writer.Published{}, nil }
func (nowhere) Abort() error                     { return nil }
