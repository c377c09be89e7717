package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/cascade"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Options name an output, and what the package needs to write the output again. URLs have no parameters: see
// storage.Objects.TakeParameters.
type Options struct {
	Output string // a file, a folder of parts, or the folder of all shards
	Store  string // a store of answers, for shards the folder of their stores; "" for the store of the account, if that exists

	// Run has the options that the account lacks: Input.Paths, by default the paths in the account; the Taxonomies, the Models
	// and Free.Model of the run; the Program, whose other versions may write other bytes. Other options are not used.
	Run pipeline.Options

	// Unfinished is for package finish: the rows are not written again, and folders of shards need no _SUCCESS.
	Unfinished bool
}

// Run verifies an output. All faults of the output, damaged files included, are findings of the report. The error says why
// Run could not verify the output: the output or a named input or store is missing or cannot be read, or ctx is done.
func Run(ctx context.Context, o Options) (Report, error) {
	o.Output = disk.Clean(runfiles.ToRead(o.Output))
	report := Report{Findings: []Finding{}}
	err := o.verify(ctx, &report)
	if missing, ok := errors.AsType[*fs.PathError](err); ok && missing.Path == o.Output {
		err = missing.Err
	}
	if err != nil {
		err = fmt.Errorf("verify %s: %w", o.Output, err)
	}
	report.Balanced = err == nil && len(report.Findings) == 0
	return report, err
}

func (o Options) verify(ctx context.Context, report *Report) error {
	shards, err := runfiles.ReadShards(ctx, o.Output)
	if err != nil {
		return err
	}
	if shards != nil {
		return o.verifyShards(ctx, shards, report)
	}
	a, err := runfiles.ReadAccount(ctx, runfiles.AccountPath(o.Output))
	if err != nil {
		return err
	}
	v := &verification{Options: o, Report: report, path: o.Output, account: a}
	return v.run(ctx)
}

// verification verifies a file or a folder of parts.
type verification struct {
	Options
	*Report
	before   Counts // of the shards before
	path     string
	account  *account.Account // nil for none
	folder   bool
	parts    []*part
	embedded bool           // the embedded service has answered
	store    *answers.Store // nil for none
	again    pipeline.Rewritten
}

func (v *verification) uncheck(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if v.path != v.Output {
		reason = v.path + ": " + reason
	}
	v.Unchecked = append(v.Unchecked, reason)
}

func (v *verification) run(ctx context.Context) error {
	v.before = v.Counts
	if err := v.findParts(ctx); err != nil {
		return err
	}
	a := v.account
	if a == nil {
		v.missing(runfiles.AccountPath(v.path))
		v.uncheck("the hashes, the counts and the rows: only the account has them, or says how the rows are written")
		return v.count(ctx)
	}
	v.Classifications, v.embedded = a.Settings.Classifications(), account.IsEmbedded(a.Service)
	expect(v.Report, "", "ending of the run", string(account.Complete), string(a.Ending))
	read := v.writeAgain
	if v.Unfinished {
		read = v.count
	}
	if err := read(ctx); err != nil {
		return err
	}
	v.checkCounts()
	v.checkAudit()
	if n := v.NotCompared - v.before.NotCompared; n > 0 {
		v.uncheck("%d answers: %s", n, v.whyNotCompared())
	}
	return nil
}

// findInputs sets the paths of the input to those of the account, unless the options name them. The error says why the rows cannot
// be written again.
func (v *verification) findInputs(ctx context.Context) error {
	a, read := v.account, &v.Run.Input
	if len(read.Paths) > 0 {
		return nil
	}
	if paths := a.Settings.InputPaths; len(paths) == 0 || slices.Contains(paths, "-") {
		return errors.New("the run has read standard input, or records in memory: name a file with the same records")
	}
	for _, in := range a.Inputs {
		if _, err := storage.Stat(ctx, runfiles.FromOutput(v.path, in.Path)); errors.Is(err, fs.ErrNotExist) { // opening the input reports other errors
			return fmt.Errorf("%s is not there any more: name the input", in.Name)
		}
	}
	for _, path := range a.Settings.InputPaths {
		read.Paths = append(read.Paths, runfiles.FromOutput(v.path, path))
	}
	return nil
}

// writeAgain writes the run again into hashes, and, if files differ, once more to compare and count their rows.
func (v *verification) writeAgain(ctx context.Context) (err error) {
	a := v.account
	if err := v.findInputs(ctx); err != nil {
		v.uncheck("the rows: %v", err)
		return v.count(ctx)
	}
	if v.store, err = v.openStore(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.store.Close()) }()
	r := pipeline.Rewriting{Account: a, Output: v.path, Store: v.store}
	r.Open = func(schema writer.Schema) (writer.Sink, error) { return v.hash(ctx, schema) }
	v.again, err = pipeline.Rewrite(ctx, v.Run, r)
	if other, is := errors.AsType[*reader.ColumnError](err); is {
		v.add(Finding{File: other.File, What: "input", Expected: "the columns of the run", Got: strings.Join(other.Columns, ", ")})
		return v.count(ctx)
	}
	if err != nil {
		return err
	}
	for _, fingerprint := range strings.Split(v.again.Service, "+") { // of a taxonomy or a model that the options name
		if !slices.Contains(strings.Split(a.Service, "+"), fingerprint) {
			v.add(Finding{What: "taxonomies and models", Expected: "those of the run, " + a.Service, Got: fingerprint})
		}
	}
	c := v.again.Counts
	v.Inputs, v.Answers, v.NotCompared = v.Inputs+c.Read, v.Answers+c.OK+c.Empty+c.Rejected, v.NotCompared+c.Pending
	expect(v.Report, "", "records, by the input", c.Read+c.Others, a.Counts.Read+a.Counts.Others)
	if !v.compareInputs("", a.Inputs, v.again.Inputs) {
		v.uncheck("the rows of the input that the run has read: the present input is another: name the one of the run")
	}
	if v.matchFiles() {
		v.Records, v.Rows = v.Records+c.Written, v.Rows+c.Rows
		v.Statuses.AddAll(account.Statuses{ByStatus: c.ByStatus})
		return nil
	}
	r.Open = func(schema writer.Schema) (writer.Sink, error) { return v.compare(ctx, schema), nil }
	_, err = pipeline.Rewrite(ctx, v.Run, r)
	return err
}

// openStore opens the store. It returns nil if neither the options nor the account name a store, or if only the account names
// the store and the store is missing.
func (v *verification) openStore() (*answers.Store, error) {
	path := cmp.Or(v.Store, v.account.Store)
	shard, isShard := account.ShardOf(v.path)
	if isShard && (v.Store != "" || filepath.Base(path) == account.ShardStore) { // which may have moved with the parts
		path = runfiles.ShardStore(shard, v.Store, v.path)
	}
	if path == "" {
		return nil, nil
	}
	opened, err := answers.Open(answers.Options{Path: path, Source: v.account.Service, ReadOnly: true, Exclusive: isShard})
	if errors.Is(err, answers.Missing) && v.Store == "" {
		return nil, nil
	}
	return opened, err
}

func (v *verification) whyNotCompared() string {
	switch {
	case v.account.Settings.Free != "" && v.Run.Free.Model == nil:
		return "name the model of the free answers"
	case v.again.Service != v.account.Service:
		return "name the taxonomies and the models of the run"
	case v.store == nil && v.account.Store == "": // of the file of finished shards
		return "each shard has a store of its own: verify the folder of the shards"
	case v.store == nil:
		return "the store of the run is not there: name it"
	}
	return "they are not stored, or another run has asked again"
}

// checkCounts compares the counts of the output with those of the account.
func (v *verification) checkCounts() {
	c := v.account.Counts
	compare := func(what string, want, before, now int64) {
		expect(v.Report, "", what+", by the account", want, now-before)
	}
	compare("records", c.Written, v.before.Records, v.Records)
	compare("rows", c.Rows, v.before.Rows, v.Rows)
	for _, status := range writer.Statuses {
		compare("records "+string(status), *c.WithStatus(status), *v.before.Statuses.WithStatus(status), *v.Statuses.WithStatus(status))
	}
}

// checkAudit compares the audit of the free records with the account. Shards have no free records.
func (v *verification) checkAudit() {
	audit, again := v.account.Free, v.again.Free
	if v.Run.Free.Model != nil && again != nil {
		expect(v.Report, "", "free records, by the account", v.account.Counts.Free, v.again.Counts.Free)
		expect(v.Report, "", "choice of the free records", again.Choice(), audit.Choice())
	}
	if audit == nil {
		return
	}
	restated := cascade.Restated(*audit)
	expect(v.Report, "", "level of the audit", restated.Level, audit.Level)
	expect(v.Report, "", "bound of the audit", restated.Bound, audit.Bound)
	if again != nil {
		expect(v.Report, "", "threshold of the free records", again.Threshold, audit.Threshold)
	}
	v.Free, v.Audit = v.account.Counts.Free, &restated
}
