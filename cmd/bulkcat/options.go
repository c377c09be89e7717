package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/notify"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// option is an option of a command. It becomes a flag, a variable of the environment, a key of job files, an option in Python,
// and rows of the help and the documents. An option that decides the rows or the requests of a run sets a field of writer.Form
// or account.Requested, which accounts have. Errors of the libraries name the field that an option sets: see flagOf.
type option struct {
	name   string       // of the flag
	short  string       // a letter that stands for the name; only for texts; "" for none
	to     any          // a pointer to the variable that the option sets, a function that sets it, or a pflag.Value
	or     any          // the default, as on the command line; nil for the present value of the variable
	help   string       // a word in ` ` stands for the value
	kind   client.Kind  // the kind of runs that have the option; "" for both kinds
	hidden bool         // the help leaves the option out
	words  []string     // values that shells complete
	only   bool         // no value but words can be used
	check  func() error // says why the value cannot be used, without the name of the flag; nil if every value can
}

// kinds and formats are the words of several options.
var (
	kinds   = []string{string(client.Website), string(client.Product)}
	formats = []string{string(writer.Parquet), string(writer.CSV), string(writer.JSONL)}
)

// group has the options under a title of the help.
type group struct {
	title   string
	options []option
}

// everydayOfRuns are the options of runs that --help shows: see everyday.
const everydayOfRuns = "column classification output output-format shape carry language dedupe top min-confidence overwrite api-key-file " +
	"rate max-requests price max-cost finish-by max-age expect dry-run sample limit offline report listen"

// options returns all options of a run.
func (f *runFlags) options() []group {
	o, names := &f.Output, client.Classifications(f.Kind)
	if f.Kind == client.Product {
		names = append(names, client.CustomPrefix+"NAME")
	}
	groups := []group{
		{"Input", slices.Concat(
			f.input.columnOptions("column", "the input's `column`, in any case and with other spaces and underscores; for JSONL and Parquet it may be a dotted path, and in a JSON file products[].title; given several times, the input is the values that are not blank, in this order"),
			f.input.formatOptions(), []option{
				{name: "classification", to: &listValue{list: &f.classification}, or: names[0], help: "the classification: `" + strings.Join(names, "` or ") + ", or several with a comma between, each with its own requests and rows"},
				{name: "ask-placeholders", to: &f.AskPlaceholders, help: "also ask for texts that stand for a missing value, such as NULL, N/A and #REF!, which are invalid otherwise"},
				{name: "scheme", kind: client.Website, to: &f.Scheme, or: "https", words: []string{"https", "http"}, help: "of bare domains, and unless --dedupe exact is given of all websites: https or http"},
				{name: "dedupe", kind: client.Website, to: &f.Dedupe, or: account.DedupeSite, words: []string{account.DedupeSite, account.DedupeExact, "host", "domain"}, help: "one request for each spelling of a website (exact), for all spellings of a page (site), for all pages of a host (host), or for all hosts of a registrable domain (domain), with rows for each record"},
			})},
		{"Output", []option{
			{name: "output", short: "o", to: &o.Path, help: "a `FILE`, a folder of parts (out/), or - for standard output; during the run, .FILE.run/status.json beside it has the progress"},
			{name: "output-format", to: (*string)(&o.Format), words: formats, help: "parquet, csv or jsonl (default: by the output's extension; parquet for a folder)"},
			{name: "part-rows", to: &o.PartRows, or: writer.DefaultPartRows, check: atLeast(&o.PartRows, 1), help: "rows of a part, at least, in a folder"},
			{name: "levels", to: &o.Levels, or: pipeline.LevelsOfTaxonomy, help: "columns level_1, level_2, ... of a category's path; -1 for as many as the taxonomy has levels"},
			{name: "carry", to: &listValue{list: &o.Carry}, or: "all", help: "columns of the input to carry along: all, none or `a,b`"},
			{name: "language", kind: client.Product, to: &o.Language, help: "add the column value_local, the path of the category in a `LANGUAGE` such as de"},
			{name: "source-columns", to: &o.SourceColumns, help: "add the columns source, basis (what the answer rests on: service, page, name, title or model) and answered_at, which differ from run to run"},
			{name: "shape", to: (*string)(&o.Shape), or: writer.ShapeLong, words: []string{"long", "top", "nested"}, help: "`SHAPE` of the rows: long (a row per category), top (one row per record, with its category of the highest confidence) or nested (one row per record, with a list of its categories; Parquet and JSONL)"},
			{name: "top", to: &o.Top, help: "the `N` categories of each record with the highest confidence; 0 for all"},
			{name: "min-confidence", to: confidenceValue(&o.MinConfidence), help: "only categories with a confidence of `X` or more, such as 0.5 or 50%; a record without such a category has the status empty"},
			{name: "escape-formulas", to: &o.EscapeFormulas, help: "for spreadsheets: a ' before the text of CSV cells that may be formulas"},
			{name: "overwrite", to: &o.Overwrite, help: "replace an output that another run has written"},
		}},
		{"Service", slices.Concat(f.service.options(), f.service.fetch.options(), f.service.taxonomies.editionOptions(), f.service.taxonomies.options())},
		{"Free answers", []option{
			{name: "free", to: &f.freeModel, help: "answer with the model in `FILE` (made by bulkcat learn) where the model is sure, and ask the hosted service for the other records; the column source names the model or the service of each row"},
			{name: "precision", to: shareValue(&f.Free.Precision), or: "95%", help: "the share of the answers of --free with which the service has to agree"},
			// A sample of 1% shows that a model has become worse, and costs little.
			{name: "audit", to: shareValue(&f.Free.Audit), or: "1%", help: "the share of the requests of --free that the service is asked as well, at random: at least 300 requests; 0 for no audit"},
		}},
		{"Pace", []option{
			{name: "rate", to: rateValue(&f.Limits.Rate), help: "requests at most, such as 10/s or 600/m; auto learns what the service allows; 0 starts without any limit"},
			{name: "workers", to: &f.Limits.InFlight, check: between(&f.Limits.InFlight, 0, 16384), help: "requests in flight at most; 0 for as many as rate and latency need"},
			{name: "max-attempts", to: &f.Retry.MaxAttempts, check: atLeast(&f.Retry.MaxAttempts, 1), help: "attempts of a request, before its records are failed"},
			{name: "max-retry-wait", to: &f.Retry.MaxWait, check: atLeast(&f.Retry.MaxWait, 0), help: "longest wait after a response, whatever its Retry-After says"},
			{name: "max-outage", to: &f.Limits.MaxOutage, or: 6 * time.Hour, check: positive(&f.Limits.MaxOutage), help: "stop, resumable, when the service is out for longer than this"},
		}},
		{"Quota and clock", slices.Concat([]option{
			{name: "max-requests", to: &f.Limits.MaxRequests, check: atLeast(&f.Limits.MaxRequests, 0), help: "stop after `N` requests of all starts of the run; each shard takes its part; 0 for no bound"},
		}, f.money.price.options(), []option{
			{name: "max-cost", to: amountValue(&f.money.maxCost), help: "stop before the requests of all starts of the run cost more, by --price; each attempt counts; 0 for no bound"},
			{name: "refresh-cost", to: amountValue(&f.money.refreshCost), help: "ask again for stored answers, as --refresh-budget does, for so much money"},
			{name: "reserve", to: &f.Limits.Reserve, or: -1, check: atLeast(&f.Limits.Reserve, -1), help: "stop, resumable, while `N` requests of the quota are left; -1 for no bound"},
			{name: "wait-for-quota", to: &f.Limits.WaitForQuota, help: "when the quota is used up, wait until there is quota again, instead of stopping"},
			{name: "finish-by", to: deadlineValue(&f.finishBy), help: "stop, resumable, in time to be done by a time of day or within a duration, such as 07:00 or 8h; a run that is started again has the deadline of its first start"},
		})},
		{"Store", []option{
			{name: "store", to: &f.Store.Path, help: "keep answers in `FILE`, which any number of runs share; of shards, the folder of their stores (default $XDG_STATE_HOME/bulkcat/answers.db, for all runs of the user)"},
			{name: "max-age", to: ageValue(&f.Store.MaxAge), help: "ask again for answers older than this, such as 30d or 12h; 0 for any age"},
			{name: "refresh-budget", to: &f.Store.RefreshBudget, help: "ask again for the `N` oldest stored answers of the input"},
			{name: "retry-rejected", to: &f.Store.RetryRejected, help: "ask again for inputs that the service rejected"},
		}},
		{"Expectation", append(f.expect.options(),
			option{name: "expect-else", to: &f.expect.other, or: "keep", words: []string{"keep", "hold", "stop"}, only: true, help: "publish an output that breaks an expectation (keep), hold it back (hold), or hold it back and also stop the run as soon as it is clear that an expectation will be broken, after at least 200 records (stop); the answers are stored"},
		)},
		{"Run", slices.Concat([]option{
			{name: "limit", to: &f.Limit, help: "read only the first `N` records"},
			{name: "sample", to: &f.Sample, help: "only `N` random records of the whole input, in input order: the same records for the same list; write them to an output of their own. A later run of the whole list finds their answers in the store"},
			{name: "shard", to: &f.shard, help: "ask only for the `K/N`th part of the input, such as 3/16, into a folder of its own in the output folder; auto takes the place of a task in its array (Slurm, Kubernetes, AWS Batch, Cloud Run) from the environment; see bulkcat finish"},
			{name: "strict", to: &f.Strict, help: "stop at the first invalid record"},
			{name: "keep-going", to: &f.KeepGoing, help: "go on even if the service rejects every input, because the inputs are wrong and not the settings, or has never answered"},
			{name: "partial", to: &f.partial, help: "ask nothing: write the answers so far, and the other records as pending"},
			{name: "offline", to: &f.Offline, help: "ask nothing: write the answers of a finished run again, in another format or with other columns"},
			{name: "dry-run", to: &f.dryRun, help: "read the input and say what a run would ask and save, without asking"},
			{name: "grace", to: &f.Grace, or: 20 * time.Second, help: "time for requests in flight after the run is interrupted"},
			{name: "report", to: &f.report, help: "write a report on the run to `FILE`: .html, .md or .json"},
			{name: "requests", to: &f.Requests, help: "write a row for each attempt to `FILE` (.csv, .jsonl or .parquet): time, input, classification, status, milliseconds, attempt and cost; FILE.log has the rows of all starts of the run, also of those that were killed"},
		}, f.log.options(), []option{
			{name: untilStdinEnds, hidden: true, to: &f.untilStdinEnds, help: "stop, resumable, when standard input ends, and print the account, for the program that has started this one"},
			{name: "cpuprofile", hidden: true, to: &f.profiling.cpu, help: "write a CPU profile to `FILE`"},
			{name: "memprofile", hidden: true, to: &f.profiling.memory, help: "write a profile of all allocations to `FILE`"},
			{name: "trace", hidden: true, to: &f.profiling.trace, help: "write an execution trace to `FILE`"},
		})},
		{"Notification", []option{
			{name: "notify", to: &f.notify.url, help: "post a message to this `URL` when the run ends; set BULKCAT_NOTIFY instead if the URL is a secret"},
			{name: "notify-on", to: &listValue{list: &f.notify.on}, or: "end,stop", words: []string{"end", "stop", "outage", "quota=80%"}, help: "when to post: end, stop (ended early, resumable), outage, quota=80% (of the quota at the start is used), or several with a comma between"},
			{name: "notify-format", to: (*string)(&f.notify.format), or: notify.JSON, words: []string{string(notify.JSON), string(notify.Slack)}, only: true, help: "of messages: json or slack"},
			{name: "on-end", to: &f.notify.onEnd, help: "run `CMD` in the shell when the run ends, with BULKCAT_RUN_STATUS, BULKCAT_RUN_OUTPUT, BULKCAT_RUN_RECORDS and more in its environment, but without the variables of flags and keys; it is killed after an hour"},
		}},
		{"Page", f.listen.options()},
	}
	for i, g := range groups {
		groups[i].options = slices.DeleteFunc(g.options, func(o option) bool { return o.kind != "" && o.kind != f.Kind })
	}
	return groups
}

// Other commands also have the options below.

// columnOptions returns the options of the input columns.
func (f *inputFlags) columnOptions(name, help string) []option {
	return []option{
		{name: name, to: &f.Columns, help: help},
		{name: "join", to: &f.Join, or: reader.DefaultJoin, help: "the `TEXT` between the values of several input columns"},
	}
}

// formatOptions returns the other options of the input.
func (f *inputFlags) formatOptions() []option {
	return []option{
		{name: "input-format", to: &f.Format, words: []string{"csv", "jsonl", "txt", "parquet", "xlsx", "xml"}, help: reader.FormatNames() + " (default: by name and content)"},
		{name: "sheet", to: &f.Sheet, help: "the `SHEET` of an Excel file (default: the first)"},
		{name: "dialect", to: &f.dialect, help: "of CSV and text, with a comma between: delimiter=C, quote=C, escape=C, comment=TEXT (none: there is none), header=LINE or header=none (the columns are 1, 2, ...), strict (RFC 4180 and no guesses), as in delimiter=tab,quote=none,header=3 (default: by the content)"},
		{name: "encoding", to: &f.Encoding, help: "utf-8, utf-16, windows-1252, windows-1251, iso-8859-2, shift_jis, gbk or another label of the WHATWG Encoding Standard (default: by the byte order mark, or else by the content)"},
	}
}

// labelledOptions returns the options of an input with labels.
func (f *inputFlags) labelledOptions(labelColumn *string) []option {
	return slices.Concat(f.columnOptions("input-column", "the `column` of the inputs; may be given several times"), []option{
		{name: "label-column", to: labelColumn, help: "the `column` of the labels"},
	}, f.formatOptions())
}

func (f *serviceFlags) options() []option {
	return append(f.optionsOfProbe(),
		option{name: "profile", to: &f.profilePath, help: "ask the service as the profile in `FILE` says, which bulkcat probe has written; other flags override the profile"},
	)
}

// optionsOfProbe returns the options of the service except --profile, which has another meaning in probe.
func (f *serviceFlags) optionsOfProbe() []option {
	return append([]option{
		{name: "base-url", to: &f.BaseURL, help: "the hosted service's `URL`; without it the embedded service answers"},
		{name: "api-key-file", to: &f.apiKeyFile, help: "read the API key from `FILE` instead of BULKCAT_API_KEY"},
	}, f.requestOptions()...)
}

// requestOptions returns the options that say how requests are sent.
func (f *serviceFlags) requestOptions() []option {
	return []option{
		{name: "header", to: &f.headers, help: "send another header, `'Name: value'`, with every request; may be given several times"},
		{name: "header-file", to: &f.headerFile, help: "more headers from `FILE`, one on a line: for secrets, which are never printed"},
		{name: "ca-file", to: &f.caFile, help: "trust the certificate authorities in `FILE` (PEM) in addition to the system's"},
		{name: "param", to: f.setParams, help: "`NAME` of the parameter that has the input (default url for websites, query for products), or website=NAME,product=NAME"},
		{name: "param-in", to: (*string)(&f.ParamIn), or: "query", words: []string{"query", "form", "json"}, help: "`place` of the parameters: query, form or json"},
		{name: "member", to: &f.Member, help: "the `PATH` of the entries in an answer, such as data.{classification}, or . for an answer that is the list (default {classification})"},
		{name: "timeout", to: &f.Timeout, or: 30 * time.Second, check: positive(&f.Timeout), help: "for one request, with its answer; the default grows to 2m while the service is slower"},
	}
}

func (f *fetchFlags) options() []option {
	return []option{
		{name: "fetch", to: &f.mode, or: page.Auto, words: []string{"auto", "always", "never"}, help: "whether the embedded service reads the pages of websites: auto, always or never"},
		{name: "fetch-rate", to: pageRateValue(&f.rate), or: 0, help: "pages at most over all hosts, such as 20/s or 600/m; 0 for no limit; each host gets one request at a time in any case"},
		{name: "allow-private", to: &f.allowPrivate, help: "also read pages at addresses of the local network"},
	}
}

func (f *customFlags) options() []option {
	return []option{
		{name: "taxonomy", kind: client.Product, to: &f.given, help: "let the embedded service answer in the custom product taxonomy in `FILE`, as the classification " + client.CustomPrefix + " and the name of the file, and ask for it unless --classification is given; NAME=FILE gives the classification a name; may be given several times"},
		{name: "model", to: &f.models.given, help: "let the embedded service answer with the model in `FILE`, which bulkcat learn has made, and ask for its classification unless --classification is given; may be given several times"},
	}
}

func (f *customFlags) editionOptions() []option {
	return []option{
		{name: "edition", to: &f.versions, help: "another `EDITION` of a taxonomy than the default: 3.1 of taxonomy_v3, 2021-09-21 of product_taxonomy; may be given several times"},
	}
}

func (f *priceFlags) options() []option {
	return []option{
		{name: "price", to: amountValue(&f.Request), help: "what a request of the hosted service costs, such as 0.002, for the costs in dry runs, progress, reports and accounts"},
		{name: "price-currency", to: &f.Currency, or: "USD", help: "the `CURRENCY` of --price"},
	}
}

func (f *expectFlags) options() []option {
	var names []string
	for _, figure := range expect.Figures() {
		names = append(names, figure[0])
	}
	return []option{
		{name: "expect", to: &f.texts, help: "an `EXPECTATION`, which must hold of the output, such as 'ok >= 95%' or 'records >= 10000', else the exit status is 4; may be given several times. The figures: " + strings.Join(names, ", ")},
		{name: "expect-against", to: &f.against, help: "the output of an earlier `RUN`, with which changed and new_categories compare; without one they are not compared"},
	}
}

func (f *logFlags) options() []option {
	return []option{
		{name: "log-format", to: &f.format, words: []string{"text", "json"}, only: true, help: "of all lines on standard error: text or json (default: sentences on a terminal, or else text)"},
		{name: "quiet", to: &f.quiet, help: "print only warnings and errors"},
		{name: "debug", to: &f.debug, help: "also log every failed attempt"},
	}
}

func (f *listenFlags) options() []option {
	return []option{
		{name: "listen", to: &f.addr, help: "serve a page about the run or the service, /metrics (Prometheus), /status.json and /healthz on `HOST:PORT`, such as 127.0.0.1:9464; port 0 takes a free one. Requests for names other than HOST and localhost are refused, because a foreign page could otherwise read this page under the foreign page's name. The page needs no key, and the page of a run shows inputs of the list: do not expose it to the internet"},
	}
}

// classificationOption returns the option of the only classification of a command.
func classificationOption(to *string) []option {
	return []option{
		{name: "classification", to: to, help: "the `name` of the classification (default " + client.TaxonomyV3 + " or " + client.ProductTaxonomy + ")"},
	}
}

// jsonOption returns the option that prints a result as JSON.
func jsonOption(asJSON *bool, help string) []option {
	return []option{{name: "json", to: asJSON, help: help}}
}

// The keys of the annotations of a flag: the title of its group, and the words of its option.
const (
	groupAnnotation = "bulkcat_flag_group"
	wordsAnnotation = "bulkcat_flag_words"
)

// addGroup adds options to a command under a title. The command checks them before it runs.
func addGroup(cmd *cobra.Command, title string, lists ...[]option) {
	options := slices.Concat(lists...)
	cmd.Flags().SortFlags = false
	for _, o := range options {
		o.bind(cmd.Flags()).Annotations = map[string][]string{groupAnnotation: {title}, wordsAnnotation: o.words}
	}
	others := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		var errs []error
		if others != nil {
			errs = append(errs, others(cmd, args))
		}
		for _, o := range options {
			var err error
			if o.check != nil {
				err = o.check()
			} else if text := cmd.Flag(o.name).Value.String(); o.only && text != "" && !slices.Contains(o.words, text) {
				last := len(o.words) - 1
				err = fmt.Errorf("%q must be %s or %s", text, strings.Join(o.words[:last], ", "), o.words[last])
			}
			if err != nil {
				errs = append(errs, &usageError{fmt.Errorf("--%s: %w", o.name, err)})
			}
		}
		return errors.Join(errs...)
	}
}

// bind makes the flag of the option.
func (o *option) bind(flags *pflag.FlagSet) *pflag.Flag {
	switch to := o.to.(type) {
	case *bool:
		flags.BoolVar(to, o.name, *to, o.help)
	case *int:
		flags.IntVar(to, o.name, *to, o.help)
	case *int64:
		flags.Int64Var(to, o.name, *to, o.help)
	case *string:
		flags.StringVarP(to, o.name, o.short, *to, o.help)
	case *[]string:
		flags.StringArrayVar(to, o.name, *to, o.help)
	case *time.Duration:
		flags.DurationVar(to, o.name, *to, o.help)
	case func(text string) error:
		flags.Func(o.name, o.help, to)
	case pflag.Value:
		flags.Var(to, o.name, o.help)
	}
	f := flags.Lookup(o.name)
	if f.Hidden = o.hidden; o.or == nil {
		return f
	}
	if err := f.Value.Set(fmt.Sprint(o.or)); err != nil {
		panic(err) // the table of options has a wrong default
	}
	if list, ok := o.to.(*listValue); ok {
		list.given = false
	}
	f.DefValue = f.Value.String()
	return f
}

// atLeast returns the check of a number with a minimum.
func atLeast[T int | int64 | time.Duration](n *T, least T) func() error {
	return func() error {
		switch {
		case *n >= least:
			return nil
		case least == 0:
			return fmt.Errorf("%v must not be negative", *n)
		}
		return fmt.Errorf("%v must be at least %v", *n, least)
	}
}

// between returns the check of a number with bounds.
func between(n *int, least, most int) func() error {
	return func() error {
		if *n < least || *n > most {
			return fmt.Errorf("%d must be %d to %d", *n, least, most)
		}
		return nil
	}
}

// positive returns the check of a duration that must be positive.
func positive(d *time.Duration) func() error {
	return func() error {
		if *d <= 0 {
			return fmt.Errorf("%v must be more than 0", *d)
		}
		return nil
	}
}
