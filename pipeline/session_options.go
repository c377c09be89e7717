package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// SessionOptions describe a [Session]. Kind, Service, Input.Paths or Input.Records, and Output.Path or Each are required.
type SessionOptions struct {
	Kind            client.Kind
	Classifications []string           // what each record is asked for; default DefaultClassifications
	Taxonomies      []*taxonomy.Custom // of custom classifications, beside the published ones
	Scheme          string             // of bare domains: "https" (the default) or "http"
	AskPlaceholders bool               // ask for texts that stand for a missing value, such as NULL, which are invalid otherwise
	Dedupe          string             // which websites are one request: DedupeSite (the default) or DedupeExact

	Service Service
	Limits  limits.Options     // Learned and CanAsk are set by the session
	Retry   client.RetryPolicy // default client.DefaultRetryPolicy

	// Candidates default to record.InputColumns; ExtraColumns are set by the session. Input.Records are read once, as standard
	// input is, so they cannot have a Store.RefreshBudget. A session that is started again needs the same records.
	Input   reader.Options
	NoSpool bool // keep no copy of standard input beside the output

	Output OutputOptions
	Store  StoreOptions

	// Each takes the answer of each record, when it is in the store, with or without an output file. Without an output
	// nothing is written but the store, and the other Output options are not used. See [Each].
	Each Each

	Offline   bool          // ask nothing: records without a stored answer are pending
	Strict    bool          // the first invalid record fails the run
	KeepGoing bool          // go on though the service rejects every input, or has never answered
	Limit     int64         // records read at most; 0 for all
	Shard     record.Shard  // the run is one of the shards in the folder Output.Path; zero for a run of its own
	FinishBy  time.Time     // stop in time to be done by then; zero for no deadline
	Grace     time.Duration // for requests in flight once the run is stopped; default 20s

	Hurry <-chan struct{} // closed to shorten the grace period to HurriedGrace, and to ask nothing after the run; nil for never

	Program string   // the program and its version, for the account
	Reads   []string // further files that the program reads; the session refuses to write over these
	Writes  []string // further files that the program writes; the session refuses to read these

	Log *slog.Logger // warnings and notices; nil for none

	Details bool // gather Status.Details

	// Watch is called before the first record is read, and its result after the last row is written.
	// Between the two the session's Progress says how far the run is. May be nil.
	Watch func(*Session) (ended func())
}

// Service is the service that a session asks.
type Service struct {
	Categorizer client.Categorizer
	Name        string  // of the service, in stored keys, the column `source` and the account
	Rate        float64 // requests a second that the service allows, as far as is known; 0 if unknown

	// Usage says what the API key may still ask; nil for a service without quotas.
	Usage func(context.Context) (client.Usage, error)

	// Hosted says that requests may be charged and limited: all answers are stored, the rate is
	// learned, and a service that rejects every input ends the run.
	Hosted bool
	// Free says that every answer costs nothing and can be made again, even in an offline run.
	Free bool
}

// HostedService is the hosted service that a client asks.
func HostedService(c *client.HTTP) Service {
	return Service{Categorizer: client.NewDiagnoser(c), Name: c.Source(), Usage: c.Usage, Hosted: true}
}

// OutputOptions say where rows go, and in which form.
type OutputOptions struct {
	Path          string        // a file, a folder of parts (it ends in "/" or exists), or "-" for Stdout
	Format        writer.Format // default: by the extension of Path; Parquet for a folder, CSV for "-"
	PartRows      int64         // rows of a part, at least; default writer.DefaultPartRows
	Levels        int           // columns level_1, level_2, ...; LevelsOfTaxonomy for as many as there are levels
	Carry         string        // columns of the input to carry: "all", "none" (or ""), or names with a comma between
	SourceColumns bool          // write the columns source and answered_at
	Shape         writer.Shape  // default writer.ShapeLong
	Top           int           // the first categories of each record; 0 for all
	MinConfidence float64       // only categories with at least this confidence
	Overwrite     bool          // replace an output that another run has written
	Stdout        io.Writer     // default os.Stdout

	EscapeFormulas bool // of CSV and TSV: see writer.Schema

	none bool // no rows are written: the caller takes the answers by Each
}

// StoreOptions say where answers are stored, and which stored answers count.
type StoreOptions struct {
	Dir           string        // default: the folder stores.Name beside the output, which runs share
	MaxAge        time.Duration // older answers do not count; 0 for any age
	RetryRejected bool          // stored rejections do not count
	RefreshBudget int64         // stored answers to ask again: see package refresh; 0 for none

	Backup      string        // a folder or URL for a copy of the store, from which a missing store is restored; "" for none
	BackupEvery time.Duration // default backup.DefaultEvery
}

// LevelsOfTaxonomy asks for as many columns level_1, level_2, ... as the deepest taxonomy has levels.
const LevelsOfTaxonomy = -1

// OptionError says that an option cannot be used.
type OptionError struct {
	Option string // the field of SessionOptions, such as "Output.Levels"
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// OptionName returns the package and the field, such as "pipeline.Output.Levels".
func (e *OptionError) OptionName() string { return "pipeline." + e.Option }

// Check finds options that cannot be used. Required options may still be missing. The error joins an
// *OptionError for each, and a *writer.FormatError if the extension of Output.Path names no format; or
// it is an *places.OverwriteError if the session would write where it reads.
func (o SessionOptions) Check() error {
	var errs []error
	o, err := o.withoutURLParameters()
	if err != nil {
		return err
	}
	refuse := func(wrong bool, option, format string, args ...any) {
		if wrong {
			errs = append(errs, &OptionError{option, fmt.Errorf(format, args...)})
		}
	}
	if len(o.Classifications) > 0 {
		_, err := client.ParseClassifications(o.Kind, strings.Join(o.Classifications, ","))
		refuse(err != nil, "Classifications", "%w", err)
	}
	refuse(o.Scheme != "" && o.Scheme != "https" && o.Scheme != "http", "Scheme", "%q must be https or http", o.Scheme)
	refuse(o.Dedupe != "" && o.Dedupe != record.DedupeSite && o.Dedupe != record.DedupeExact, "Dedupe", "%q must be %s or %s", o.Dedupe, record.DedupeSite, record.DedupeExact)
	err = o.Shard.Check()
	refuse(err != nil, "Shard", "%w", err)
	refuse(o.Shard.Count > 0 && o.Output.Path != "" && !o.Output.folder(), "Shard", "the output %s must be a folder for all shards, such as out/", o.Output.Path)
	refuse(o.Shard.Count > 0 && o.Store.Dir != "" && answers.IsStore(o.Store.Dir), "Store.Dir", "%s is a store, which only one process can open: name a folder for the stores of all shards", o.Store.Dir)
	refuse(o.Limits.MaxRequests > 0 && o.Limits.MaxRequests < int64(o.Shard.Count), "Limits.MaxRequests", "%d must be at least the number of shards, %d", o.Limits.MaxRequests, o.Shard.Count)
	refuse(o.Grace < 0, "Grace", "%v must not be negative", o.Grace)
	refuse(o.Limit < 0, "Limit", "%d must not be negative", o.Limit)
	refuse(o.Store.RefreshBudget < 0, "Store.RefreshBudget", "%d must not be negative", o.Store.RefreshBudget)
	refuse(o.Store.RefreshBudget > 0 && o.readsStdin(), "Store.RefreshBudget", "the input is read twice, and standard input can be read once: name a file")
	refuse(o.Store.RefreshBudget > 0 && o.Input.Records != nil, "Store.RefreshBudget", "the input is read twice, and Input.Records are read once: name a file")
	streams := o.Output.Path == "-" || o.hasNoOutput()
	refuse(o.Store.RefreshBudget > 0 && streams && o.Store.Dir == "", "Store.RefreshBudget", "there is no store: name one")
	refuse(o.Store.Backup != "" && streams && o.Store.Dir == "", "Store.Backup", "there is no store: name one")
	refuse(o.Each != nil && o.Output.Path != "" && o.Output.folder(), "Each", "the records of the parts that the folder %s keeps are not read again: name a file, or no output", o.Output.Path)
	refuse(o.Store.BackupEvery != 0 && o.Store.BackupEvery < time.Second, "Store.BackupEvery", "must be at least 1s")
	refuse(o.Output.Levels < LevelsOfTaxonomy || o.Output.Levels > writer.MaxLevels, "Output.Levels", "%d must be 0 to %d, or %d", o.Output.Levels, writer.MaxLevels, LevelsOfTaxonomy)
	refuse(o.Output.PartRows < 0, "Output.PartRows", "%d must be at least 1", o.Output.PartRows)
	refuse(o.Output.Top < 0, "Output.Top", "%d must not be negative", o.Output.Top)
	refuse(!(o.Output.MinConfidence >= 0) || math.IsInf(o.Output.MinConfidence, 0), "Output.MinConfidence", "%v must be a number from 0", o.Output.MinConfidence)
	shape, err := writer.ParseShape(string(cmp.Or(o.Output.Shape, writer.ShapeLong)))
	refuse(err != nil, "Output.Shape", "%w", err)
	if o.Output.Path != "" {
		format, err := o.Output.format()
		errs = append(errs, err)
		if err == nil {
			err = shape.CheckFormat(format)
			refuse(err != nil, "Output.Shape", "%w", err)
			refuse(o.Output.EscapeFormulas && !format.Delimited(), "Output.EscapeFormulas", "%s has no formulas: only CSV and TSV take the option", format)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	o = o.inShard().withStreams()
	if err := o.protect(); err != nil {
		return err
	}
	return o.checkPlaces()
}

// withoutURLParameters returns the options without the parameters of URLs: see storage.TakeParameters.
func (o SessionOptions) withoutURLParameters() (SessionOptions, error) {
	var err error
	if o.Output.Path, err = storage.TakeParameters(o.Output.Path); err != nil {
		return o, &OptionError{"Output.Path", err}
	}
	if o.Store.Backup, err = storage.TakeParameters(o.Store.Backup); err != nil {
		return o, &OptionError{"Store.Backup", err}
	}
	o.Input.Paths = slices.Clone(o.Input.Paths)
	for i, path := range o.Input.Paths {
		if o.Input.Paths[i], err = storage.TakeParameters(path); err != nil {
			return o, &OptionError{"Input.Paths", err}
		}
	}
	if storage.IsURL(o.Store.Dir) {
		return o, &OptionError{"Store.Dir", fmt.Errorf("%s: the store must be a folder of this machine, for answers are made durable one by one: name a local folder", o.Store.Dir)}
	}
	return o, nil
}

func (o SessionOptions) withStreams() SessionOptions {
	if o.Input.Stdin == nil {
		o.Input.Stdin = os.Stdin
	}
	if o.Output.Stdout == nil {
		o.Output.Stdout = os.Stdout
	}
	return o
}

// checkParts also wants what a run cannot do without.
func (o SessionOptions) checkParts() error {
	var errs []error
	for _, required := range []struct {
		option string
		given  bool
	}{
		{"Kind", o.Kind.Known()},
		{"Service.Categorizer", o.Service.Categorizer != nil},
		{"Service.Name", o.Service.Name != ""},
		{"Input.Paths", len(o.Input.Paths) > 0 || o.Input.Records != nil},
		{"Output.Path", o.Output.Path != "" || o.hasNoOutput() && o.Shard == (record.Shard{})},
		{"Store.Dir", o.Store.Dir != "" || !o.hasNoOutput() || !o.Service.Hosted},
	} {
		if !required.given {
			errs = append(errs, &OptionError{required.option, errors.New("the option is required")})
		}
	}
	return errors.Join(append(errs, o.Check())...)
}

func (o SessionOptions) withDefaults() SessionOptions {
	o = o.withStreams()
	o, _ = o.withoutURLParameters() // checked by Check
	o.Input.Storage = storage.Objects{}
	if o.hasNoOutput() {
		o.Output = OutputOptions{Path: "-", none: true}
	}
	if len(o.Classifications) == 0 {
		o.Classifications = DefaultClassifications(o.Kind, o.Taxonomies)
	}
	if o.Kind == client.Website && o.Scheme == "" {
		o.Scheme = "https"
	}
	if o.Kind == client.Website && o.Dedupe == "" {
		o.Dedupe = record.DedupeSite
	}
	o.Output.Shape = cmp.Or(o.Output.Shape, writer.ShapeLong)
	if o.Output.PartRows == 0 {
		o.Output.PartRows = writer.DefaultPartRows
	}
	if o.Output.Levels == LevelsOfTaxonomy {
		o.Output.Levels = o.deepest()
	}
	if o.Retry.MaxAttempts == 0 {
		o.Retry = client.DefaultRetryPolicy()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Input.Candidates) == 0 {
		o.Input.Candidates = record.InputColumns(o.Kind)
	}
	o.Input.Missing = o.normalizer().IsMissing
	o.Input.ExtraColumns, o.Input.NamedOnly, o.Input.Log = record.Settings{Carry: o.Output.Carry}.NamedColumns(), o.Output.Carry != "all", o.Log
	if !o.Service.Hosted {
		o.Service.Name += fingerprints(o.Classifications, o.Taxonomies)
	}
	if !o.Service.Hosted && o.Limits.Rate == 0 {
		o.Limits.Rate = math.Inf(1)
	}
	if o.Service.Hosted {
		o.Limits.InFlight = client.MaxConnections(cmp.Or(o.Limits.InFlight, limits.DefaultInFlight))
	}
	if !o.Service.Hosted && o.Limits.InFlight == 0 {
		o.Limits.InFlight = defaultInFlight
	}
	return o
}

func (o *SessionOptions) normalizer() client.Normalizer {
	return client.Normalizer{Scheme: o.Scheme, AskPlaceholders: o.AskPlaceholders}
}

// requests are the options that decide which requests a run makes.
func (o *SessionOptions) requests() Options {
	options := Options{
		Kind: o.Kind, Normalizer: o.normalizer(),
		BySite: o.Dedupe == record.DedupeSite, Limit: o.Limit, Shard: o.Shard,
	}
	for _, name := range o.Classifications {
		options.Classifications = append(options.Classifications, o.classification(name))
	}
	return options
}

// inStateFolder says whether the store is in the state folder of the user: the output is a stream, no folder is named,
// and answers may be charged.
func (o *SessionOptions) inStateFolder() bool {
	return o.Output.Path == "-" && o.Store.Dir == "" && o.Service.Hosted
}

// stored says where the store is, or would be; false if there is no place for one: there is no output, or a stream
// whose answers cost nothing, and no folder is named.
func (o *SessionOptions) stored() (stores.Options, bool) {
	dir, output := o.Store.Dir, o.Output.Path
	if o.inStateFolder() {
		folder, err := stores.StateFolder()
		if err != nil {
			return stores.Options{}, false
		}
		output = filepath.Join(folder, "-")
	}
	if o.Shard != (record.Shard{}) && o.Output.Path != "" {
		dir = o.Shard.Store(dir, o.Output.Path)
	}
	return stores.Options{
		Options: answers.Options{Dir: dir, Source: o.Service.Name, MaxAge: o.Store.MaxAge, RetryRejected: o.Store.RetryRejected},
		Output:  storage.Local(output),
	}, dir != "" || output != "-" && output != ""
}

// keepsAnswers says whether a run may have answers to store. The embedded service's answers to product
// titles cost nothing.
func (o *SessionOptions) keepsAnswers() bool {
	return o.Service.Hosted || o.Kind == client.Website || o.Store.Dir != ""
}

// keeps says whether stored answers to these records count.
func (o *StoreOptions) keeps(s record.Statuses) bool {
	return o.MaxAge == 0 && o.RefreshBudget == 0 && !(o.RetryRejected && s.Rejected > 0)
}
