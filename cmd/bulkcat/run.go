package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// runFlags are the flags that `website` and `product` share.
type runFlags struct {
	kind    client.Kind
	streams streams

	input   inputFlags
	output  outputFlags
	service serviceFlags
	store   storeFlags
	log     logFlags

	classification      string      // several with a comma between
	classificationGiven func() bool // whether it is not the default
	scheme              string
	dedupe              string // empty for products
	pace                paceFlags
	grace               time.Duration
	limit               int64
	strict              bool
	keepGoing           bool
	partial             bool
	noSpool             bool
	offline             bool
	dryRun              bool
	profiling           profilingFlags
}

// newRunCommand makes the command of a kind; all that differs is named by the caller.
func newRunCommand(s streams, kind client.Kind, short, example string) *cobra.Command {
	f := &runFlags{kind: kind, streams: s}
	cmd := &cobra.Command{
		Use:     string(kind) + " INPUT... -o OUTPUT",
		Short:   short,
		Example: example,
		Args:    operands(1, 0, "no input: name a file, a pattern such as 'feeds/*.csv', or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.input.Paths = args
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Input", f.bindInput)
	addGroup(cmd, "Output", f.output.bind)
	addGroup(cmd, "Service", func(flags *pflag.FlagSet) {
		f.service.bind(flags)
		f.service.fetch.bind(flags)
		if kind == client.Product {
			f.service.taxonomies.bind(flags)
		}
	})
	addGroup(cmd, "Pace", f.pace.bind)
	addGroup(cmd, "Quota and clock", f.pace.bindLimits)
	addGroup(cmd, "Store", f.store.bind)
	addGroup(cmd, "Run", f.bindRun)
	return cmd
}

func (f *runFlags) bindInput(flags *pflag.FlagSet) {
	f.input.bind(flags)
	names := client.Classifications(f.kind)
	if f.kind == client.Product {
		names = append(names, client.CustomPrefix+"NAME")
	}
	flags.StringVar(&f.classification, "classification", names[0], "what to ask for: `"+strings.Join(names, "` or ")+", or several with a comma between, each with requests and rows of its own")
	f.classificationGiven = func() bool { return flags.Changed("classification") }
	if f.kind == client.Website {
		flags.StringVar(&f.scheme, "scheme", "https", "for bare domains, and with --dedupe site for all: https or http")
		flags.StringVar(&f.dedupe, "dedupe", pipeline.DedupeSite, "one request for a website however it is spelled (site), or for each spelling (exact)")
	}
}

func (f *runFlags) bindRun(flags *pflag.FlagSet) {
	flags.Int64Var(&f.limit, "limit", 0, "read only the first `N` records")
	flags.BoolVar(&f.strict, "strict", false, "stop at the first invalid record")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "go on though the service refuses every input: the inputs are to blame, and not the settings")
	flags.BoolVar(&f.noSpool, "no-spool", false, "do not keep standard input beside the output while the run needs it")
	flags.BoolVar(&f.partial, "partial", false, "ask nothing: write what is answered so far, and the other records as pending")
	flags.BoolVar(&f.offline, "offline", false, "ask nothing: write a finished run's answers anew, in another format or with other columns")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read the input and say what a run would ask and save, without asking")
	flags.DurationVar(&f.grace, "grace", 20*time.Second, "for requests in flight once the run is interrupted")
	f.log.bind(flags)
	f.profiling.bind(flags)
}

func (f *runFlags) check() error {
	if _, err := client.ParseClassifications(f.kind, f.classification); err != nil {
		return fmt.Errorf("--classification: %w", err)
	}
	switch {
	case f.scheme != "" && f.scheme != "https" && f.scheme != "http":
		return fmt.Errorf("--scheme: %q must be https or http", f.scheme)
	case f.kind == client.Website && f.dedupe != pipeline.DedupeSite && f.dedupe != pipeline.DedupeExact:
		return fmt.Errorf("--dedupe: %q must be %s or %s", f.dedupe, pipeline.DedupeSite, pipeline.DedupeExact)
	case f.grace < 0:
		return fmt.Errorf("--grace: %v must not be negative", f.grace)
	case f.limit < 0:
		return fmt.Errorf("--limit: %d must not be negative", f.limit)
	case f.output.path == "" && !f.dryRun:
		return errors.New("no output: name a file (-o out.parquet), a folder (-o out/), or -o - for standard output")
	}
	return errors.Join(f.output.check(), f.pace.check(), f.log.check())
}

// run opens the parts of a run, runs it, and tells.
func (f *runFlags) run(ctx context.Context) (err error) {
	if err := f.check(); err != nil {
		return &usageError{err}
	}
	if f.output.path == "-" && !f.dryRun && isClosed(f.streams.out) {
		return errors.New("standard output is closed, and all rows would be lost: name a file with -o, or redirect standard output")
	}
	if err := f.protectInputs(); err != nil {
		return &usageError{err}
	}
	profiled, err := f.profiling.start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, profiled()) }()
	log := f.log.logger(f.streams.err)
	if f.asksNothing() {
		f.service.keyless = true
		if f.kind == client.Product {
			f.service.fetch.mode = page.Never
		}
	}
	svc, err := f.service.open(f.pace.inFlight(true), log)
	if err != nil {
		return err
	}
	defer svc.Close()
	f.settle()
	if !svc.hosted {
		svc.source = f.service.taxonomies.source(f.classifications()...)
		for _, name := range f.classifications() {
			if err := f.service.taxonomies.has(name); err != nil {
				log.Warn(err.Error())
			}
		}
	}
	if !svc.hosted && !f.log.quiet {
		fmt.Fprintln(f.streams.err, embeddedNotice)
	}
	lock, err := f.lock()
	if err != nil {
		return err
	}
	defer lock.Release()
	spool, err := f.spool()
	if err != nil {
		return err
	}
	interrupt := f.interruptible(spool)
	if interrupt != nil {
		defer context.AfterFunc(ctx, interrupt)()
	}
	f.input.ExtraColumns, f.input.NamedOnly, f.input.Log = f.output.named(), f.output.carry != "all", log
	input, err := f.input.open(f.kind, f.streams.in)
	if err != nil {
		return errors.Join(causeOf(ctx, err), discardSpool(spool))
	}
	defer input.Close()
	f.output.resolve(input)
	if f.dryRun {
		return causeOf(ctx, f.forecast(ctx, svc, input, log))
	}
	n := &session{
		flags: f, service: svc, input: input, lock: lock, spool: spool, interrupt: interrupt, log: log, counters: new(pipeline.Counters),
	}
	n.quota = newQuota(svc, n.counters, log)
	return n.run(ctx)
}

// settle decides what the flags leave to the taxonomies.
func (f *runFlags) settle() {
	taxonomies := &f.service.taxonomies
	if !f.classificationGiven() {
		f.classification = taxonomies.fallback(f.kind)
	}
	if f.output.levels == levelsOfTaxonomy {
		f.output.levels = taxonomies.deepest(f.classifications())
	}
}

func (f *runFlags) classifications() []string { return strings.Split(f.classification, ",") }

// asked are the classifications as the pipeline takes them.
func (f *runFlags) asked() []pipeline.Classification {
	var list []pipeline.Classification
	for _, name := range f.classifications() {
		list = append(list, pipeline.Classification{Name: name, Category: f.service.taxonomies.category(name)})
	}
	return list
}

// causeOf gives the reason for which reading was interrupted, and other errors as they are.
func causeOf(ctx context.Context, err error) error {
	if errors.Is(err, reader.ErrInterrupted) {
		return context.Cause(ctx)
	}
	return err
}

// asksNothing says whether the run is to send no request.
func (f *runFlags) asksNothing() bool { return f.partial || f.offline }

// storedOnly says whether all answers are to come from the store. Those of the embedded
// service that need no page are not kept in one, for they cost nothing: they are made anew.
func (f *runFlags) storedOnly(svc service) bool {
	return f.asksNothing() && (svc.hosted || f.service.fetch.mode != page.Never)
}

func (f *runFlags) options(svc service, input *reader.Reader) (pipeline.Options, error) {
	carry, places, err := f.output.carried(input.Columns())
	if err != nil {
		return pipeline.Options{}, err
	}
	schema := writer.Schema{Levels: f.output.levels, SourceColumns: f.output.sourceColumns, Carry: carry}
	if slices.Contains(f.classifications(), client.NAICS) {
		schema.NAICS = client.NAICS
	}
	return pipeline.Options{
		Kind:            f.kind,
		Classifications: f.asked(),
		Normalizer:      client.Normalizer{Scheme: f.scheme},
		BySite:          f.dedupe == pipeline.DedupeSite,
		Retry:           f.pace.retryPolicy(),
		SourceName:      svc.source,
		WaitForQuota:    f.pace.waitForQuota,
		FinishBy:        f.pace.finishBy.time(time.Now()),
		Limit:           f.limit,
		Strict:          f.strict,
		KeepGoing:       f.keepGoing || !svc.hosted,
		Offline:         f.storedOnly(svc),
		Grace:           max(f.grace, 1), // 0 is a default there
		Schema:          schema,
		Carry:           places,
	}, nil
}

// metadata goes into the file, and so holds only what is the same in every run over the
// same input.
func (f *runFlags) metadata() map[string]string {
	return map[string]string{
		"bulkcat.format":         "2",
		"bulkcat.kind":           string(f.kind),
		"bulkcat.classification": f.classification,
	}
}

// inputFlags are the reader's options.
type inputFlags struct {
	reader.Options
	delimiter string
}

func (f *inputFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.Column, "column", "", "the input's `column`, in any case and with other spaces and underscores; for JSONL and Parquet it may be a dotted path")
	f.bindFormat(flags)
}

// bindFormat binds how files are read, whatever their columns are for.
func (f *inputFlags) bindFormat(flags *pflag.FlagSet) {
	flags.StringVar(&f.Format, "input-format", "", "csv, jsonl, txt, parquet or xlsx, where name and content do not tell")
	flags.StringVar(&f.Sheet, "sheet", "", "the `SHEET` of an Excel file (default: the first)")
	flags.StringVar(&f.delimiter, "delimiter", "", "of CSV columns: one character, or tab; found by itself among , ; tab |")
	flags.BoolVar(&f.NoHeader, "no-header", false, "the CSV has no header: its columns are 1, 2, ...")
	flags.BoolVar(&f.StrictCSV, "strict-csv", false, "take CSV by RFC 4180 to the letter: stray quotes and rows of another length than the header are invalid; guess no encoding")
	flags.StringVar(&f.Encoding, "encoding", "", "utf-8, utf-16, utf-16le, utf-16be or windows-1252 (default: by the byte order mark, or else by the content)")
}

// candidates are the columns that hold the input where --column does not say.
var candidates = map[client.Kind][]string{
	client.Website: {"url", "website", "domain", "host", "homepage", "website_url", "domain_name", "site_url"},
	client.Product: {"title", "product_title", "product", "name", "query", "product_name"},
}

func (f *inputFlags) open(kind client.Kind, stdin interface{ Read([]byte) (int, error) }) (*reader.Reader, error) {
	delimiter, err := parseDelimiter(f.delimiter)
	if err != nil {
		return nil, &usageError{err}
	}
	f.Delimiter, f.Candidates, f.Stdin = delimiter, candidates[kind], stdin
	input, err := reader.Open(f.Options)
	var (
		column *reader.ColumnError
		option *reader.OptionError
		other  *reader.UnsupportedError
	)
	if errors.As(err, &column) || errors.As(err, &option) || errors.As(err, &other) {
		return nil, &usageError{err}
	}
	return input, err
}

func parseDelimiter(text string) (rune, error) {
	switch text {
	case "":
		return 0, nil
	case "tab", `\t`:
		return '\t', nil
	}
	if runes := []rune(text); len(runes) == 1 && !strings.ContainsAny(text, "\"\r\n\ufffd") {
		return runes[0], nil
	}
	return 0, fmt.Errorf("--delimiter: %q must be one character, or tab", text)
}

// storeFlags say where answers are kept.
type storeFlags struct {
	dir           string
	maxAge        ageValue
	retryRejected bool
}

func (f *storeFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "store", "", "keep answers in `DIR`, which runs may share one after the other (default "+stores.Name+" beside the output)")
	flags.Var(&f.maxAge, "max-age", "ask again for answers older than this, such as 30d or 12h; 0 for any age")
	flags.BoolVar(&f.retryRejected, "retry-rejected", false, "ask again for inputs that the service refused")
}

// options say where the store lies, or would lie; false where there is no place for one: output
// to a pipe, none named.
func (f *storeFlags) options(output, source string) (stores.Options, bool) {
	return stores.Options{
		Options: answers.Options{Dir: f.dir, Source: source, MaxAge: time.Duration(f.maxAge), RetryRejected: f.retryRejected},
		Output:  output,
	}, f.dir != "" || output != "-" && output != ""
}

// keepsAnswers says whether a run may have answers to store. Those of the embedded service to
// product titles cost nothing.
func (f *runFlags) keepsAnswers(svc service) bool {
	return svc.hosted || f.kind == client.Website || f.store.dir != ""
}

// settled says whether the flags leave the answers of these records alone.
func (f *storeFlags) settled(s pipeline.Statuses) bool {
	return f.maxAge == 0 && !(f.retryRejected && s.Rejected > 0)
}
