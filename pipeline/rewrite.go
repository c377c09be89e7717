package pipeline

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Rewriting names the run that is written again.
type Rewriting struct {
	Account *account.Account // of the run
	Output  string           // the present path of the output
	Store   *answers.Store   // only read from; nil for none

	// Open opens the sink of the rows. Its schema includes the carried columns.
	Open func(writer.Schema) (writer.Sink, error)
}

// Rewritten is the result of Rewrite.
type Rewritten struct {
	Counts  account.Snapshot
	Inputs  []account.Input
	Service string         // the name of the service of the options; the embedded service computes answers only for its name in the account
	Free    *account.Audit // of the free answers; nil for none
	Files   []writer.File  // that the sink has published
}

// Rewrite writes the rows of a run to a sink again: the same records and answers give the same rows. Options have what the
// account lacks: Input.Paths, a Limit, the Taxonomies, the Models and Free.Model. Rewrite asks no service, and neither writes
// nor locks a file. The embedded service and the model of Options.Free compute their answers again, without reading pages; any
// other record without a stored answer is pending. The errors are those of reading the input, of the store and of the sink,
// and *[OptionError] if the input lacks a column or Free.Model is not the model of the run.
func Rewrite(ctx context.Context, options Options, r Rewriting) (_ Rewritten, err error) {
	s := newOpened(options.of(r), storage.From(ctx))
	defer func() { err = causeOf(ctx, errors.Join(err, s.input.Close())) }()
	o := &s.options
	service := o.Service.Name
	o.Service.Name, o.Service.Free = r.Account.Service, !o.Service.Hosted && service == r.Account.Service
	if err := s.openInput(ctx); err != nil {
		return Rewritten{}, err
	}
	defer context.AfterFunc(ctx, s.input.end)()
	stages := s.options.stages(r.Account.Settings)
	stages.Unstored = true
	if stages, _, err = carried(&o.Output, stages, s.input.Reader); err != nil {
		return Rewritten{}, err
	}
	if o.Free.Model != nil && o.Free.source() != r.Account.Settings.Free {
		return Rewritten{}, &OptionError{Option: "Free.Model", Err: errors.New("it is not the model of the run")}
	}
	p, err := s.look(ctx, r.Account, r.Store, nil)
	if err != nil {
		return Rewritten{}, err
	}
	stages.Free = p.free
	parts := flow.Parts{
		Source: &renamed{Reader: s.input.Reader, inputs: r.Account.Inputs}, Interrupt: s.input.end, Attempter: o.Service.Attempter, Store: r.Store, Counters: s.counters,
	}
	if parts.Sink, err = r.Open(stages.Schema); err != nil {
		return Rewritten{}, err
	}
	published, err := flow.Run(ctx, parts, stages)
	return Rewritten{s.counters.Snapshot(), o.inputsOf(s.input.Reader), service, cmp.Or(p.audit(o), r.Account.Free), published.Files}, err
}

// of returns the options of a run that is written again.
func (o Options) of(r Rewriting) Options {
	s := r.Account.Settings
	o.Kind, o.Classifications, o.Editions = client.Kind(s.Kind), s.Classifications(), editionsOf(s)
	limit := o.Limit
	o.Requested, o.Shard = s.Requested, s.Shard
	o.Limit = cmp.Or(s.Limit, limit)
	paths, stdin := o.Input.Paths, o.Input.Stdin
	o.Input = readAs(r.Account.Reading)
	o.Input.Paths, o.Input.Stdin, o.Input.Columns, o.Input.Join = paths, stdin, s.Columns, s.Join
	o.Output = OutputOptions{Path: r.Output, Format: writer.Format(s.OutputFormat), Carry: s.Carry, Form: s.Form}
	o.Free.Precision, o.Free.Audit = s.Precision, s.Audit
	o.Offline = true
	if o.Service = (Service{Name: r.Account.Service, Hosted: true}); account.IsEmbedded(r.Account.Service) {
		o.Service = Service{Name: account.EmbeddedService, Attempter: embedded.New(embedded.Options{
			Custom: o.Taxonomies, Editions: o.Editions, Models: o.Models, Logger: slog.New(slog.DiscardHandler),
		})}
	}
	return o
}

// editionsOf returns the editions that the settings of a run name by their versions.
func editionsOf(s account.Settings) (choice taxonomy.Choice) {
	for _, version := range strings.Split(s.Edition, ",") {
		for _, e := range taxonomy.Editions() {
			if e.Version == version && slices.Contains(s.Classifications(), e.Name) {
				choice = append(choice, e)
			}
		}
	}
	return choice
}

// renamed is an input whose files have the names that they had in the run: the rows of invalid records contain these names.
type renamed struct {
	*reader.Reader
	inputs     []account.Input
	from, name string // of the present file
}

func (r *renamed) Read() (reader.Record, error) {
	record, err := r.Reader.Read()
	if err != nil {
		return record, err
	}
	if record.File != r.from {
		r.from, r.name = record.File, record.File
		i := slices.IndexFunc(r.Files(), func(f reader.FileInfo) bool { return f.Name == record.File })
		if i >= 0 && i < len(r.inputs) {
			r.name = r.inputs[i].Name
		}
	}
	record.File = r.name
	if row, ok := errors.AsType[*reader.RowError](record.Err); ok {
		renamed := *row
		renamed.File = r.name
		record.Err = &renamed
	}
	return record, nil
}
