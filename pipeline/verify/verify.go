package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/cascade"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
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
func Run(ctx context.Context, o Options) (report Report, err error) {
	o.Output = disk.Clean(runfiles.ToRead(o.Output))
	defer func() {
		if err != nil {
			err = fmt.Errorf("verify %s: %w", o.Output, err)
		}
		report.Balanced = err == nil && len(report.Findings) == 0
	}()
	found, err := storage.Exists(ctx, o.Output)
	if err == nil && !found && storage.IsURL(o.Output) {
		found, err = storage.IsFolder(ctx, o.Output)
	}
	if err == nil && !found {
		err = syscall.ENOENT
	}
	if err != nil {
		return report, err
	}
	report.Findings = []Finding{}
	shards, err := runfiles.ReadShards(ctx, o.Output)
	if err != nil {
		return report, err
	}
	if shards != nil {
		return report, o.verifyShards(ctx, shards, &report)
	}
	a, err := runfiles.ReadAccount(ctx, runfiles.AccountPath(o.Output))
	if err == nil {
		err = o.verify(ctx, o.Output, a, &report, "")
	}
	return report, err
}

// verify verifies a file or a folder of parts. Its reasons in Report.Unchecked begin with shard: the name of a shard, or "".
func (o Options) verify(ctx context.Context, path string, a *account.Account, report *Report, shard string) error {
	v := &verification{Options: o, path: path, account: a, report: report, shard: shard}
	err := v.run(ctx)
	report.Counts.add(v.Counts)
	return err
}

// verification is the state of Options.verify.
type verification struct {
	Options
	Counts   // of this output
	path     string
	account  *account.Account // nil for none
	report   *Report
	shard    string
	parts    []*part
	folder   bool
	embedded bool           // the embedded service has answered
	others   bool           // the options name a taxonomy or a model that the run did not have
	store    *answers.Store // nil for none

	again   pipeline.Rewritten
	isAgain bool // the run was written again
}

func (v *verification) uncheck(format string, args ...any) {
	v.report.Unchecked = append(v.report.Unchecked, v.shard+fmt.Sprintf(format, args...))
}

func (v *verification) run(ctx context.Context) error {
	if err := v.find(ctx); err != nil {
		return err
	}
	a := v.account
	if a == nil {
		v.report.add(Finding{What: "account", Expected: "OUTPUT.run.json", Got: "none"})
		v.uncheck("the hashes, the counts and the rows: only the account has them, or says how the rows are written")
		return v.countRows(ctx)
	}
	v.Classifications, v.embedded = a.Settings.Classifications(), strings.HasPrefix(a.Service, "embedded")
	expect(v.report, "", "ending of the run", string(account.Complete), string(a.Ending))
	v.checkNamed()
	if !v.Unfinished {
		if err := v.writeAgain(ctx); err != nil {
			return err
		}
	}
	if err := v.countRows(ctx); err != nil {
		return err
	}
	v.checkCounts()
	v.explain()
	return nil
}

// checkNamed finds the taxonomies and the models that the options name and the run did not have. Taxonomies of classifications
// that the run did not ask for are not checked.
func (v *verification) checkNamed() {
	check := func(what, classification, fingerprint string) {
		service := v.account.Service // with the fingerprints of all taxonomies and models of the run
		if v.embedded && !slices.Contains(strings.Split(service, "+"), fingerprint) {
			v.others = true
			v.report.add(Finding{What: what + " of " + classification, Expected: "that of the run, " + service, Got: fingerprint})
		}
	}
	for _, t := range v.Run.Taxonomies {
		if slices.Contains(v.Classifications, t.Name) {
			check("taxonomy", t.Name, t.Fingerprint())
		}
	}
	for _, m := range v.Run.Models {
		check("model", m.Classification, m.Fingerprint())
	}
}

// writeAgain writes the run again and compares the hashes of the files, and then the rows of the files that differ.
func (v *verification) writeAgain(ctx context.Context) (err error) {
	if len(v.Run.Input.Paths) == 0 {
		if v.Run.Input.Paths, err = v.inputsOfAccount(ctx); err != nil {
			v.uncheck("the rows: %v", err)
			return nil
		}
	}
	if v.store, err = v.openStore(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.store.Close()) }()
	if err := v.rewrite(ctx, v.hash); err != nil {
		return err
	}
	v.Inputs = v.again.Counts.Read
	c := v.account.Counts
	expect(v.report, "", "records, by the input", v.again.Counts.Read+v.again.Counts.Others, c.Read+c.Others)
	v.report.compareInputs("", v.account.Inputs, v.again.Inputs)
	if !slices.ContainsFunc(v.parts, func(p *part) bool { return p.want != nil && !p.isSame() }) {
		return nil
	}
	return v.rewrite(ctx, v.compare)
}

// rewrite writes the run again to the sink that open opens.
func (v *verification) rewrite(ctx context.Context, open func(context.Context, writer.Schema) (writer.Sink, error)) (err error) {
	v.again, err = pipeline.Rewrite(ctx, v.Run, pipeline.Rewriting{
		Account: v.account, Output: v.path, Store: v.store,
		Open: func(schema writer.Schema) (writer.Sink, error) { return open(ctx, schema) },
	})
	v.isAgain = err == nil
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
	if _, isMissing := errors.AsType[*answers.MissingError](err); isMissing && v.Store == "" {
		return nil, nil
	}
	return opened, err
}

// explain says why answers were not compared.
func (v *verification) explain() {
	switch n := v.NotCompared; {
	case n == 0:
	case v.account.Settings.Free != "" && v.Run.Free.Model == nil:
		v.uncheck("%d answers: name the model of the free answers", n)
	case v.others:
		v.uncheck("%d answers: the taxonomies and the models that are named are not those of the run", n)
	case v.embedded && !v.again.Embedded:
		v.uncheck("%d answers: name the taxonomies and the models of the run", n)
	case v.store == nil && v.account.Store == "": // of the file of finished shards
		v.uncheck("%d answers: each shard has a store of its own: verify the folder of the shards", n)
	case v.store == nil:
		v.uncheck("%d answers: the store of the run is not there: name it", n)
	default:
		v.uncheck("%d answers: they are not stored, or another run has asked again", n)
	}
}

// countRows counts the rows of the output. If all files are those that the run writes, the counts of the run are the counts.
func (v *verification) countRows(ctx context.Context) error {
	same := v.isAgain && len(v.parts) == len(v.account.Outputs)
	for _, p := range v.parts {
		same = same && p.isSame()
	}
	if c := v.again.Counts; same {
		v.Records, v.Rows, v.Statuses = c.Written, c.Rows, account.Statuses{ByStatus: c.ByStatus}
		v.Answers, v.NotCompared = c.OK+c.Empty+c.Rejected, c.Pending
		return nil
	}
	n := counter{Counts: &v.Counts, gaps: v.account != nil && (v.account.Settings.Shard != account.Shard{} || v.account.Settings.Sample > 0)}
	for _, p := range v.parts {
		err := n.count(ctx, p.Part)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		isFound := slices.ContainsFunc(v.report.Findings, func(f Finding) bool { return f.File == p.Path && f.Record > 0 })
		if err != nil && !isFound {
			v.report.add(Finding{File: p.Path, Record: n.record + 1, What: "content", Expected: "a whole file", Got: err.Error()})
		} else if n.odd != 0 && !isFound {
			v.report.add(Finding{File: p.Path, Record: n.odd, What: "record", Expected: "each record once, in order", Got: "another order"})
		}
		n.odd = 0
	}
	return nil
}

// counter counts the records of an output.
type counter struct {
	*Counts
	gaps   bool  // some records of the input belong to other shards, or are not in the sample
	record int64 // the number of the last record
	odd    int64 // the first record of a file that is out of order; 0 for none
}

func (c *counter) count(ctx context.Context, p readback.Part) error {
	for g, err := range readback.Groups(ctx, []readback.Part{p}, writer.ColumnRecord, writer.ColumnStatus, writer.ColumnClassification) {
		if err != nil {
			return err
		}
		c.Rows += g.InFile
		row := &g.Rows[0]
		if row.Record != c.record {
			c.Records++
			if next := c.record + 1; c.odd == 0 && (row.Record < next || row.Record > next && !c.gaps) {
				c.odd = row.Record
			}
		}
		c.record = row.Record
		c.Statuses.Add(row.Status)
	}
	return nil
}

// checkCounts compares the counts of the output with those of the account.
func (v *verification) checkCounts() {
	c := v.account.Counts
	compare := func(what string, want, got int64) { expect(v.report, "", what+", by the account", want, got) }
	compare("records", c.Written, v.Records)
	compare("rows", c.Rows, v.Rows)
	for _, status := range writer.Statuses {
		compare("records "+string(status), *c.WithStatus(status), *v.Statuses.WithStatus(status))
	}
	audit, again := v.account.Free, v.again.Free
	if v.Run.Free.Model != nil && again != nil {
		compare("free records", c.Free, v.again.Counts.Free)
		expect(v.report, "", "choice of the free records", again.Choice(), audit.Choice())
	}
	if audit != nil {
		restated := cascade.Restated(*audit)
		expect(v.report, "", "level of the audit", restated.Level, audit.Level)
		expect(v.report, "", "bound of the audit", restated.Bound, audit.Bound)
		if again != nil {
			expect(v.report, "", "threshold of the free records", again.Threshold, audit.Threshold)
		}
		v.Free, v.Audit = c.Free, &restated
	}
}
