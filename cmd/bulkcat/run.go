package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/live"
	"github.com/bulkcat/bulkcat/pipeline/notify"
	"github.com/bulkcat/bulkcat/reader"
)

// runFlags are the flags that `website` and `product` share.
type runFlags struct {
	pipeline.Options
	streams streams

	input          inputFlags
	service        serviceFlags
	finishBy       string
	log            logFlags
	notify         notifyFlags
	listen         listenFlags
	money          moneyFlags
	expect         expectFlags
	notifier       *notify.Notifier                 // nil without --notify
	began          time.Time                        // the time from which messages count the seconds
	session        atomic.Pointer[pipeline.Session] // nil before it is open
	account        *account.Account                 // nil before the end
	endings        endings
	started        time.Time
	forecast       pipeline.Forecast // of a dry run
	classification string            // several are separated by commas
	shard          string
	freeModel      string // the file of --free; "" for none
	partial        bool
	direct         bool // the operands are the inputs: see takeDirect
	dryRun         bool
	untilStdinEnds bool
	profiling      profilingFlags
	report         string // the file of the report; "" for none
}

// untilStdinEnds is the name of a hidden flag for programs that start bulkcat.
const untilStdinEnds = "until-stdin-ends"

// newRunCommand makes the command website or product.
func newRunCommand(s streams, kind client.Kind) (*cobra.Command, *runFlags) {
	f := &runFlags{streams: s, started: time.Now()}
	f.Kind, f.Retry = kind, client.DefaultRetryPolicy()
	cmd := &cobra.Command{
		Use:  string(kind) + " INPUT... -o OUTPUT",
		Args: operands(1, anyNumber, "no input: name a file, a pattern such as 'feeds/*.csv', or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.input.Paths = args
			if err := f.takeDirect(); err != nil {
				return &usageError{err}
			}
			if !f.dryRun {
				outlivePipes()
			}
			defer f.attend()()
			ctx := cmd.Context()
			if f.untilStdinEnds {
				ctx = untilEnd(ctx, s.in)
			}
			return f.notified(ctx, func() error {
				return f.run(ctx, cmd.Flags().Changed("classification"))
			})
		},
	}
	f.service.flags, f.money.price.flags = cmd.Flags(), cmd.Flags()
	for _, g := range f.options() {
		addGroup(cmd, g.title, g.options)
	}
	return cmd, f
}

// complete sets the options from the flags, except the options of the service.
func (f *runFlags) complete() error {
	if f.Output.Path == "" && !f.dryRun {
		return errors.New("no output: name a file (-o out.parquet), a folder (-o out/), or -o - for standard output")
	}
	if f.untilStdinEnds && slices.ContainsFunc(append(f.service.files(), f.input.Paths...), f.streams.isIn) {
		return errors.New("--until-stdin-ends: standard input is an input")
	}
	f.Classifications = strings.Split(f.classification, ",")
	f.Offline = f.Offline || f.partial
	f.Output.Stdout = f.streams.out
	f.Limits.KeepReserve, f.Limits.MaxWait = f.Limits.Reserve >= 0, max(f.Retry.MaxWait, 1)
	f.FinishBy, _ = account.ParseFinishBy(f.finishBy, f.started) // deadlineValue has checked it
	f.Program = version()
	f.Reads = append(f.service.files(), f.freeModel)
	f.Writes = []string{f.profiling.cpu, f.profiling.memory, f.profiling.trace, f.report}
	var err error
	if f.Input, err = f.input.options(f.streams.in); err != nil {
		return err
	}
	if f.Expect.List, err = f.expect.list(); err != nil {
		return err
	}
	f.Expect.Against, f.Expect.Hold, f.Expect.Stop = f.expect.against, f.expect.other == "hold", f.expect.other == "stop"
	if f.Shard, err = parseShard(f.shard); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	err = errors.Join(flagged(f.Check()), f.checkReport())
	f.Grace = max(f.Grace, 1) // 0 stands for the default
	return err
}

func parseShard(text string) (account.Shard, error) {
	switch text {
	case "":
		return account.Shard{}, nil
	case "auto":
		return account.ShardFromEnvironment(os.Getenv)
	}
	return account.ParseShard(text)
}

// run runs the session, and prints its summary.
func (f *runFlags) run(ctx context.Context, classificationGiven bool) (err error) {
	if err := f.complete(); err != nil {
		return &usageError{err}
	}
	if f.Output.Path == "-" && !f.dryRun && terminal.IsClosed(f.streams.out) {
		return errors.New("standard output is closed, and all rows would be lost: name a file with -o, or redirect standard output")
	}
	f.Log = f.log.logger(f.streams.err)
	svc, err := f.openService(ctx, classificationGiven)
	if err != nil {
		return err
	}
	defer svc.Close()
	if f.dryRun {
		if f.forecast, err = pipeline.DryRun(ctx, f.Options); err != nil {
			return err
		}
		return f.tellForecast()
	}
	signalled := ctx
	if f.Output.Path == "-" {
		ctx = f.streams.whileRead(ctx)
	}
	if err := f.listen.open(f.streams.err, "run"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.listen.close()) }()
	f.Watch, f.Details = f.watch, f.listen.server != nil
	session, err := pipeline.Open(ctx, f.Options)
	if err != nil {
		return err
	}
	f.session.Store(session)
	defer func() { err = errors.Join(err, session.Close()) }()
	profiled, err := f.profiling.start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, profiled()) }()
	f.rememberStore()
	a, err := session.Run(ctx)
	f.account, err = a, orBrokenPipe(signalled, ctx, err)
	if a != nil && !f.log.quiet && !f.direct && err != errBrokenPipe {
		newSummary(session, a, err).tell(f.streams.err, f.Log)
	}
	if a != nil && f.untilStdinEnds && f.Output.Path != "-" {
		_ = json.NewEncoder(f.streams.out).Encode(a) // the account of a shard or of an object is not at OUTPUT.run.json on this machine
	}
	if reportErr := f.writeRunReport(ctx, a); reportErr != nil {
		return errors.Join(flagged(err), reportErr)
	}
	return f.ending(a, err)
}

// openService opens the service, and completes the options that depend on it.
func (f *runFlags) openService(ctx context.Context, classificationGiven bool) (service, error) {
	if f.Offline {
		f.service.keyless = true
		if f.Kind == client.Product {
			f.service.fetch.mode = page.Never
		}
	}
	svc, err := f.service.open(ctx, f.Limits.InFlight, f.Log)
	if err != nil {
		return svc, err
	}
	f.Taxonomies, f.Models = f.service.taxonomies.loaded, f.service.taxonomies.models.loaded
	if err := f.service.taxonomies.loadEditions(); err != nil { // hosted services have editions, too
		return service{}, err
	}
	f.Editions = f.service.taxonomies.editions
	if err := f.loadFree(svc.Hosted); err != nil {
		return svc, err
	}
	if !classificationGiven {
		f.Classifications = pipeline.DefaultClassifications(f.Kind, f.Taxonomies, f.Options.AllModels())
	}
	f.addFreeEdition()
	if err := f.service.taxonomies.models.used(f.Kind, f.Classifications); err != nil {
		return svc, err
	}
	for _, e := range f.Editions {
		if !slices.Contains(f.Classifications, e.Name) {
			return service{}, &usageError{fmt.Errorf("--edition: %s is an edition of %s, which the run does not ask for", e.Version, e.Name)}
		}
	}
	if !svc.Hosted {
		for _, name := range f.Classifications {
			if err := f.service.taxonomies.has(name); err != nil {
				f.Log.Warn(err.Error())
			}
		}
		if !f.log.quiet {
			fmt.Fprintln(f.streams.err, embeddedNotice)
		}
	}
	if err := f.applyMoney(svc.Hosted); err != nil {
		return svc, &usageError{err}
	}
	f.Service = svc.Service
	if svc.Hosted && !f.Offline {
		f.Store.Others = knownStores()
	}
	return svc, nil
}

// rememberStore makes later runs look for answers in the store of this run, unless it is the user's store or the store of a shard.
func (f *runFlags) rememberStore() {
	if path, err := filepath.Abs(f.Store.Path); err == nil && f.Service.Hosted && f.Store.Path != "" && f.Shard == (account.Shard{}) {
		rememberStore(path)
	}
}

// ending returns the error that decides the exit status.
func (f *runFlags) ending(a *account.Account, err error) error {
	switch {
	case err != nil && !isBroken(err):
		return err
	case a.Counts.Pending > 0: // with --partial or --offline
		return errPending
	case err != nil:
		return err
	case a.Counts.Unanswered() > 0:
		return errUnanswered
	}
	return nil
}

// watch reports signals and progress until the run has ended.
func (f *runFlags) watch(session *pipeline.Session) (ended func()) {
	unshown := func() {}
	if f.Output.Path == "-" && terminal.Width(f.streams.out) > 0 {
		f.streams.err.NoBar() // the rows are on the same terminal
	}
	if !f.log.quiet {
		unshown = f.streams.err.ShowProgress(f.Log, session.Status)
	}
	noticed := f.notice(session)
	shown := f.listen.show(live.NewRun(session.Status))
	return func() {
		shown()
		noticed()
		unshown()
	}
}

// inputFlags are the options of the reader.
type inputFlags struct {
	reader.Options
	dialect string
}

// options returns the reader's options.
func (f *inputFlags) options(stdin io.Reader) (o reader.Options, err error) {
	o = f.Options
	o.Stdin = stdin
	o.Columns = slices.DeleteFunc(slices.Clone(o.Columns), func(name string) bool { return name == "" }) // an empty variable
	if o.Join == "" && o.Records == nil {
		return o, errors.New("--join: the text between the values must not be empty")
	}
	if o.Dialect, err = reader.ParseDialect(f.dialect); err != nil {
		return o, fmt.Errorf("--dialect: %w", err)
	}
	return o, nil
}

func newWebsite(s streams) *cobra.Command {
	cmd, _ := newRunCommand(s, client.Website)
	cmd.Short = "Categorize websites: URLs or bare domains"
	cmd.Example = `  bulkcat website domains.csv -o domains.parquet
  bulkcat website domains.csv -o domains/ --classification naics   # a folder of parts
  bulkcat website domains.csv -o both.csv --classification taxonomy_v3,naics
  cat domains.txt | bulkcat website - -o - --output-format jsonl
  bulkcat website example.com   # one website, answered on the terminal`
	return cmd
}

func newProduct(s streams) *cobra.Command {
	cmd, _ := newRunCommand(s, client.Product)
	cmd.Short = "Categorize products: titles or URLs"
	cmd.Example = `  bulkcat product catalog.jsonl --column title -o catalog.csv
  bulkcat product 'feeds/*.csv.gz' -o feeds/out/ --carry sku,brand
  bulkcat product catalog.csv -o catalog.parquet --dry-run   # what would it ask?
  bulkcat product "Cast iron skillet"                        # one title, answered on the terminal`
	return cmd
}
