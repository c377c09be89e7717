package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Source gives the records of a run; io.EOF after the last. reader.Reader is one.
type Source interface {
	Read() (reader.Record, error)
}

// Options describe a run.
type Options struct {
	Kind            client.Kind
	Classifications []Classification // what each record is asked for, at least one; its rows come in this order
	Normalizer      client.Normalizer
	BySite          bool // the spellings of a website are one request: see client.Normalizer.Site
	Retry           client.RetryPolicy
	SourceName      string // the service, for the rows' column `source`

	Manifest     *Manifest     // of an output folder: parts to keep, and to enter new ones into; nil for others
	Offline      bool          // ask nothing: records without a stored answer are pending
	KeepGoing    bool          // take every refusal for one of the input, however many there are
	Strict       bool          // the first invalid record fails the run
	Limit        int64         // records read at most; 0 for all
	Window       int64         // bytes of records between reading and writing; default 128 MiB
	WaitForQuota bool          // wait when nothing is left of the account, instead of stopping
	FinishBy     time.Time     // stop in time to be done by then; zero for no deadline
	Grace        time.Duration // for requests in flight once the run is stopped; default 20s

	Schema writer.Schema
	Carry  []int // index in Record.Fields of each of Schema.Carry
}

// Classification is one classification that records are asked for.
type Classification struct {
	Name string

	// Category gives the id of a category by the value that answers have, and whether the taxonomy has
	// the category; nil where the taxonomy is not known. The id may be "".
	Category func(value string) (id string, known bool)
}

// Parts are what a run works with.
type Parts struct {
	Source      Source
	Interrupt   func() // ends a Read of Source that waits for input, with reader.ErrInterrupted; nil where none does
	Categorizer client.Categorizer
	Limits      *limits.Controller                          // of attempts; nil for 32 in flight and no other limit
	Usage       func(context.Context) (client.Usage, error) // what is left of the account; may be nil where Limits never asks
	Log         *slog.Logger                                // of what the run meets on its way; nil for none
	Store       *answers.Store                              // nil: answers are not kept
	Sink        writer.Sink
	Counters    *Counters // may be read while the run goes on
}

const (
	// defaultWindow keeps a quarter of a million records on their way.
	defaultWindow = 128 << 20
	// defaultInFlight suits a service in process, which reads pages.
	defaultInFlight = 32
	// defaultGrace outlasts nearly every answer; a request cut off may have been paid.
	defaultGrace = 20 * time.Second
)

// request is what a record is asked as in one of the classifications.
func (o *Options) request(input string, class int) (client.Request, error) {
	return o.Normalizer.Request(o.Kind, input, o.Classifications[class].Name)
}

// check returns an error if the options contradict each other.
func (o *Options) check() error {
	if len(o.Carry) != len(o.Schema.Carry) {
		return fmt.Errorf("Options.Carry has %d columns, and Options.Schema.Carry has %d: each carried column needs its index", len(o.Carry), len(o.Schema.Carry))
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	return o
}
