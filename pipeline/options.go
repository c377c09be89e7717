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
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/attempts"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Options describe a [Session]. Kind, Service, Input.Paths or Input.Records, and Output.Path or Each are required.
type Options struct {
	Kind            client.Kind
	Classifications []string           // each record is asked for in each of these; default DefaultClassifications
	Editions        taxonomy.Choice    // editions that are not the default editions
	Taxonomies      []*taxonomy.Custom // taxonomies of custom classifications, in addition to the published taxonomies
	Models          []*learn.Model     // models of the embedded service
	account.Requested
	flow.Conduct

	Service Service
	Price   money.Price    // of a request of a hosted service, for the account; zero if unknown
	MaxCost money.Amount   // of all starts of the run, by Price; each attempt counts; 0 for no bound
	Limits  limits.Options // MaxRequests are those of all starts of the run; Made, Learned and CanAsk are set by the session

	// Candidates default to the usual names of Kind; the session sets ExtraColumns. Records can be read only once, as standard
	// input can, so they allow no Store.RefreshBudget. A session that is started again needs the same records.
	Input reader.Options

	Output OutputOptions
	Expect ExpectOptions
	Store  StoreOptions
	Free   FreeOptions

	// Each takes the answer of each record after the answer is stored, with or without an output. Without an output only the
	// store is written, and the other Output options are not used. See [Each].
	Each Each

	Shard    account.Shard    // the shard that the run writes in the folder Output.Path; zero for a run without shards
	FinishBy account.FinishBy // the run stops in time to end by this deadline; zero for no deadline

	// Requests is the path of a file, .csv, .jsonl or .parquet, with a row for each attempt of all starts of the run; "" for none.
	// It is written when a start ends. See package attempts.
	Requests string

	Program string   // the program and its version, for the account
	Reads   []string // further files that the program reads; the session refuses to write over these
	Writes  []string // further files that the program writes; the session refuses to read these

	Log *slog.Logger // warnings and notices; nil for none

	Details bool // gather Status.Details

	noOutput bool // no rows are written: Each takes the answers
	noSpool  bool // standard input is not kept: nothing will be asked

	// Watch is called before the run reads its first record, and ended after the last row is written. Between the two calls
	// Session.Status tells the progress of the run. May be nil.
	Watch func(*Session) (ended func())
}

// Service is the service that a session asks.
type Service struct {
	Attempter client.Attempter
	CloseIdle func()  // closes idle connections; may be nil
	Name      string  // of the service, in stored keys, the column `source` and the account
	Rate      float64 // requests per second that the service allows; 0 if unknown

	// Usage returns how much quota the API key has left; nil for a service without quotas.
	Usage func(context.Context) (client.Usage, error)

	// Hosted says that requests may be charged and limited: all answers are stored, the rate is
	// learned, and a service that rejects every input ends the run.
	Hosted bool
	// Free says that every answer costs nothing and can be made again, even in an offline run.
	Free bool
}

// HostedService returns the hosted service that a client asks.
func HostedService(c *client.HTTP) Service {
	return Service{Attempter: c, CloseIdle: c.Close, Name: c.Source(), Usage: c.Usage, Hosted: true}
}

// StoreOptions say where answers are stored, and which stored answers count.
type StoreOptions struct {
	Path          string        // the file; default: answers.UserFile, which all runs of the user share. For a shard: the folder of the stores of all shards
	MaxAge        time.Duration // older answers do not count; 0 for any age
	RetryRejected bool          // stored rejections do not count
	Others        []string      // other stores, which are only read: a warning names the store with the most answers that the run would pay for
	RefreshBudget int64         // stored answers to ask again, the oldest: see package refresh; 0 for none
}

// Check finds options that cannot be used. Required options may still be missing. The error joins an *OptionError for each of
// these options, and a *writer.FormatError if the extension of Output.Path names no format. If there is none of these, the
// error is a *places.OverwriteError if the session would write a file that it reads, or that of clashing places.
func (o Options) Check() error {
	var errs []error
	o, err := o.withoutURLParameters(new(storage.Objects).TakeParameters) // each session takes its own
	if err != nil {
		return err
	}
	refuse := func(wrong bool, option, format string, args ...any) {
		if wrong {
			errs = append(errs, &OptionError{Option: option, Err: fmt.Errorf(format, args...)})
		}
	}
	if len(o.Classifications) > 0 {
		_, err := client.ParseClassifications(o.Kind, strings.Join(o.Classifications, ","))
		refuse(err != nil, "Classifications", "%w", err)
	}
	languages := o.languages()
	refuse(o.Output.Language != "" && !slices.Contains(languages, o.Output.Language), "Output.Language", "%s", unknownLanguage(o.Output.Language, languages))
	o.Requested.Check(refuse)
	err = o.Shard.Check()
	refuse(err != nil, "Shard", "%w", err)
	refuse(o.Shard.Count > 0 && o.Output.Path != "" && !o.Output.IsFolder(), "Shard", "the output %s must be a folder for all shards, such as out/", o.Output.Path)
	refuse(o.Shard.Count > 0 && o.Store.Path != "" && answers.IsStore(o.Store.Path), "Store.Path", "%s is a store, and each shard has its own: name a folder for the stores of all shards", o.Store.Path)
	refuse(o.Limits.MaxRequests > 0 && o.Limits.MaxRequests < int64(o.Shard.Count), "Limits.MaxRequests", "%d must be at least the number of shards, %d", o.Limits.MaxRequests, o.Shard.Count)
	refuse(o.MaxCost > 0 && o.Price.Request == 0, "MaxCost", "say what a request costs")
	refuse(o.MaxCost > 0 && o.Limits.MaxRequests > 0, "MaxCost", "the run has a bound of its requests, too: leave one of the two out")
	refuse(o.MaxCost > 0 && o.Price.Requests(o.MaxCost) < 1, "MaxCost", "%s does not pay for one request", o.Price.Text(o.MaxCost))
	refuse(o.MaxCost > 0 && o.Price.Requests(o.MaxCost) < int64(o.Shard.Count), "MaxCost", "%s does not pay for a request of each shard", o.Price.Text(o.MaxCost))
	refuse(o.Grace < 0, "Grace", "%v must not be negative", o.Grace)
	refuse(o.Sample > 0 && o.Shard.Count > 0, "Sample", "a sample is of the whole list, and small: run it without shards, with an output of its own")
	refuse(o.Store.RefreshBudget < 0, "Store.RefreshBudget", "%d must not be negative", o.Store.RefreshBudget)
	refuse(o.Store.RefreshBudget > 0 && o.readsStdin(), "Store.RefreshBudget", "the input is read twice, and standard input can be read once: name a file")
	refuse(o.Store.RefreshBudget > 0 && o.Input.Records != nil, "Store.RefreshBudget", "the input is read twice, and Input.Records are read once: name a file")
	streams := o.Output.Path == "-" || o.hasNoOutput()
	refuse(o.Store.RefreshBudget > 0 && streams && o.Store.Path == "" && !o.Service.Hosted, "Store.RefreshBudget", "there is no store: name one")
	if o.Requests != "" {
		err = attempts.Check(o.Requests)
		refuse(err != nil, "Requests", "%w", err)
		refuse(storage.IsURL(o.Requests), "Requests", "%s: attempts are made durable one by one: name a local file", o.Requests)
	}
	o.checkFree(refuse)
	refuse(o.Each != nil && o.Output.Path != "" && o.Output.IsFolder(), "Each", "the records of the parts that the folder %s keeps are not read again: name a file, or no output", o.Output.Path)
	if err := errors.Join(append(errs, o.Output.Check(), o.checkExpectations())...); err != nil {
		return err
	}
	o = o.inShard().withStreams()
	if err := o.protect(); err != nil {
		return err
	}
	return o.checkPlaces()
}

// withoutURLParameters returns the options without the parameters of URLs, which take removes.
func (o Options) withoutURLParameters(take func(path string) (string, error)) (Options, error) {
	var err error
	if o.Output.Path, err = take(o.Output.Path); err != nil {
		return o, &OptionError{Option: "Output.Path", Err: err}
	}
	o.Input.Paths = slices.Clone(o.Input.Paths)
	for i, path := range o.Input.Paths {
		if o.Input.Paths[i], err = take(path); err != nil {
			return o, &OptionError{Option: "Input.Paths", Err: err}
		}
	}
	if storage.IsURL(o.Store.Path) {
		return o, &OptionError{Option: "Store.Path", Err: fmt.Errorf("%s: the store must be a file of this machine, for answers are made durable one by one: name a local file", o.Store.Path)}
	}
	return o, nil
}

func (o Options) withStreams() Options {
	o.Input.Stdin = cmp.Or[io.Reader](o.Input.Stdin, os.Stdin)
	o.Output.Stdout = cmp.Or[io.Writer](o.Output.Stdout, os.Stdout)
	return o
}

// checkParts is Check, and also finds required options that are missing.
func (o Options) checkParts() error {
	var errs []error
	for _, required := range []struct {
		option string
		given  bool
	}{
		{"Kind", o.Kind.Known()},
		{"Service.Attempter", o.Service.Attempter != nil},
		{"Service.Name", o.Service.Name != ""},
		{"Input.Paths", len(o.Input.Paths) > 0 || o.Input.Records != nil},
		{"Output.Path", o.Output.Path != "" || o.hasNoOutput() && o.Shard == (account.Shard{})},
	} {
		if !required.given {
			errs = append(errs, &OptionError{Option: required.option, Err: errors.New("the option is required")})
		}
	}
	return errors.Join(append(errs, o.Check())...)
}

// writes returns the further files that the session or the program writes.
func (o *Options) writes() []string {
	if o.Requests == "" {
		return o.Writes
	}
	return append(attempts.Files(o.Requests), o.Writes...)
}

func (o Options) withDefaults() Options {
	o = o.withStreams()
	if o.hasNoOutput() {
		o.Output, o.noOutput = OutputOptions{Path: "-"}, true
	}
	if len(o.Classifications) == 0 {
		o.Classifications = DefaultClassifications(o.Kind, o.Taxonomies, o.AllModels())
	}
	o.Free.Precision = cmp.Or(o.Free.Precision, defaultPrecision)
	if o.Kind == client.Website && o.Scheme == "" {
		o.Scheme = "https"
	}
	if o.Dedupe == account.DedupeSite { // the same run as with the default
		o.Dedupe = ""
	}
	if o.Output.Shape == writer.ShapeLong {
		o.Output.Shape = ""
	}
	o.Output.PartRows = cmp.Or(o.Output.PartRows, writer.DefaultPartRows)
	if o.Output.Levels == LevelsOfTaxonomy {
		o.Output.Levels = o.deepest()
	}
	if o.Retry.MaxAttempts == 0 {
		o.Retry = client.DefaultRetryPolicy()
	}
	o.Grace = cmp.Or(o.Grace, flow.DefaultGrace)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Input = InputOptions(o.Input, o.Kind)
	o.Input.Missing = selection.Normalizer(o.Requested).IsMissing
	o.Input.ExtraColumns, o.Input.NamedOnly, o.Input.Log = account.NamedColumns(o.Output.Carry), o.Output.Carry != "all", o.Log
	if o.Service.Hosted {
		o.Limits.InFlight = client.MaxConnections(cmp.Or(o.Limits.InFlight, limits.DefaultInFlight))
		return o
	}
	o.Service.Name += fingerprints(o.Classifications, o.Taxonomies, o.Models)
	if versions := o.Editions.Versions(o.Classifications); versions != "" {
		o.Service.Name += "+" + versions
	}
	o.Limits.Rate = cmp.Or(o.Limits.Rate, math.Inf(1))
	o.Limits.InFlight = cmp.Or(o.Limits.InFlight, flow.DefaultInFlight)
	return o
}

// inputColumns are the usual names of the input column, for users who do not name the column.
var inputColumns = map[client.Kind][]string{
	client.Website: {"url", "website", "domain", "host", "homepage", "website_url", "domain_name", "site_url", "hostname", "origin", "top_pages", "address"},
	client.Product: {"title", "product_title", "product", "name", "query", "product_name", "item_name", "g:title", "lineitem_name"},
}

// InputOptions completes the options of a reader for inputs of kinds: Candidates are the usual names of the input column, and
// lists of websites may have comments.
func InputOptions(o reader.Options, kinds ...client.Kind) reader.Options {
	if len(o.Candidates) == 0 {
		for _, kind := range kinds {
			o.Candidates = append(o.Candidates, inputColumns[kind]...)
		}
	}
	if !slices.Contains(kinds, client.Product) {
		o.Comment = "#" // not for products: a title may begin with #
	}
	return o
}

// KindOf returns the kind for which column is a usual name of the input column, such as website for url; "" for none.
func KindOf(column string) client.Kind {
	column = strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(column))
	for kind, names := range inputColumns {
		if slices.Contains(names, column) {
			return kind
		}
	}
	return ""
}

// requests returns the options that decide which requests a run makes.
func (o *Options) requests() flow.Options {
	options := flow.Options{Kind: o.Kind, Requested: o.Requested, Conduct: o.Conduct, Shard: o.Shard}
	for _, name := range o.Classifications {
		options.Classifications = append(options.Classifications, o.classification(name))
	}
	return options
}

// isOffline reports whether the run asks nothing. An offline run still asks a service whose answers are Free.
func (o *Options) isOffline() bool { return o.Offline && !o.Service.Free }

// stages returns the options of the stages that all passes share.
func (o *Options) stages(settings account.Settings) flow.Options {
	s := o.requests()
	s.SourceName, s.Basis = o.Service.Name, client.BasisService
	if !o.Service.Hosted {
		s.Basis = client.BasisPage // only answers from pages are stored
	}
	s.WaitForQuota = o.Limits.WaitForQuota
	s.KeepGoing = o.KeepGoing || !o.Service.Hosted
	s.Offline = o.isOffline()
	s.Schema = output.Schema(settings)
	s.Typed = o.Output.Content() == writer.Parquet
	return s
}

// hasNoOutput reports whether the answers go to Each alone.
func (o *Options) hasNoOutput() bool { return o.Output.Path == "" && o.Each != nil }

// inShard returns the options with the shard's folder as the output.
func (o Options) inShard() Options {
	if _, ok := account.ShardOf(o.Output.Path); o.Shard != (account.Shard{}) && !ok && o.Output.Path != "" {
		o.Output.Path = disk.Join(o.Output.Path, o.Shard.Folder()) + "/"
	}
	return o
}

// folderOfShards returns the folder of all shards. o is a result of inShard.
func (o *Options) folderOfShards() string {
	folder, _ := disk.Split(disk.Clean(o.Output.Path))
	return folder
}

// makeFolder makes the folder of all shards if it is missing. A run without shards gets an error if the output's folder is missing.
func (o *Options) makeFolder() error {
	if o.Shard == (account.Shard{}) {
		return o.Output.CheckFolder()
	}
	all := OutputOptions{Path: o.folderOfShards()}
	if err := all.CheckFolder(); err != nil {
		return err
	}
	return storage.MakeFolder(all.Path)
}
