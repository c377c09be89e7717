package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

const service = "https://api.example.com"

// records are the fixture's input. The name of a host decides its answer.
const records = `url,note
three.example,"first, with a comma"
none.example,
rejected.example,"a line` + "\r\n" + `break"
two.example,déjà vu
no website,
three.example,again
two.example/path,
one.example,last
`

// byHost answers with the number of entries that the host names.
type byHost struct{}

func (byHost) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	count := map[string]int{"one": 1, "two": 2, "three": 3}
	host, _, _ := strings.Cut(strings.TrimPrefix(r.Input, "https://"), ".")
	switch host {
	case "rejected":
		return client.Answer{}, &client.Error{Class: client.Rejected, Status: 422, Detail: "not this one"}
	case "fails":
		return client.Answer{}, &client.Error{Class: client.Transient, Status: 503}
	}
	value := `"Top %d > Sub > Leaf"`
	if r.Classification == client.NAICS {
		value = `"54%d11"`
	}
	var entries []string
	for i := range count[host] {
		entries = append(entries, fmt.Sprintf(`{"value":`+value+`,"title":"T%d","confidence":0.%d}`, i, i, 9-i))
	}
	answer, err := client.ParseAnswer([]byte(`{"`+r.Classification+`":[`+strings.Join(entries, ",")+`]}`), r.Classification)
	answer.AnsweredAt = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	return answer, err
}

// fixture is the output of a run, in a folder with its input and its store.
type fixture struct {
	t       *testing.T
	options pipeline.Options
	input   string
	output  string // without a slash at the end
	account *account.Account
}

// newFixture runs a session over records. The path of the output is one in a folder of its own, or a URL.
func newFixture(t *testing.T, output string, change func(*pipeline.Options)) *fixture {
	t.Helper()
	dir := t.TempDir()
	if !storage.IsURL(output) {
		output = dir + "/" + output
	}
	f := &fixture{t: t, input: filepath.Join(dir, "in.csv"), output: disk.Clean(output)}
	f.check(os.WriteFile(f.input, []byte(records), 0o666))
	f.options = pipeline.Options{
		Kind: client.Website, Classifications: []string{client.TaxonomyV3}, Conduct: flow.Conduct{Retry: client.RetryPolicy{MaxAttempts: 1}},
		Service: pipeline.Service{Attempter: byHost{}, Name: service, Hosted: true},
		Input:   reader.Options{Paths: []string{f.input}},
		Output:  pipeline.OutputOptions{Path: output, PartRows: 4, Form: writer.Form{Levels: 2, SourceColumns: true}, Carry: "all"},
		Limits:  limits.Options{Rate: math.Inf(1)},
		Program: "test",
	}
	if change != nil {
		change(&f.options)
	}
	if f.options.Shard.Count == 0 {
		f.options.Store.Path = filepath.Join(dir, "answers.db")
	}
	f.run()
	return f
}

// run runs the session, once more after the first time.
func (f *fixture) run() {
	f.t.Helper()
	session, err := pipeline.Open(f.t.Context(), f.options)
	f.check(err)
	f.account, err = session.Run(f.t.Context())
	f.check(errors.Join(err, session.Close()))
}

// verify verifies the output with the input that the account names.
func (f *fixture) verify() Report {
	f.t.Helper()
	report, err := Run(f.t.Context(), Options{Output: f.output, Run: pipeline.Options{Program: "test"}})
	f.check(err)
	return report
}

// rows are the rows that the run writes.
func (f *fixture) rows() (rows []writer.Row, schema writer.Schema) {
	f.t.Helper()
	f.rewriteTo(func(s writer.Schema) (writer.Sink, error) { schema = s; return (*rowsOf)(&rows), nil })
	return rows, schema
}

// rewriteTo writes the run again to a sink.
func (f *fixture) rewriteTo(open func(writer.Schema) (writer.Sink, error)) {
	f.t.Helper()
	r := pipeline.Rewriting{Account: f.account, Output: f.output, Open: open}
	if f.options.Service.Hosted {
		store, err := answers.Open(answers.Options{Path: f.account.Store, Source: service, ReadOnly: true})
		f.check(err)
		defer store.Close()
		r.Store = store
	}
	_, err := pipeline.Rewrite(f.t.Context(), pipeline.Options{Input: f.options.Input, Taxonomies: f.options.Taxonomies}, r)
	f.check(err)
}

// rowsOf is a sink in memory.
type rowsOf []writer.Row

func (r *rowsOf) Write(rows []writer.Row) error {
	for _, row := range rows {
		row.Fields, row.Nulls, row.Levels = slices.Clone(row.Fields), slices.Clone(row.Nulls), slices.Clone(row.Levels)
		row.Categories = slices.Clone(row.Categories)
		for i := range row.Categories {
			row.Categories[i].Levels = slices.Clone(row.Categories[i].Levels)
		}
		*r = append(*r, row)
	}
	return nil
}
func (*rowsOf) Close() (writer.Published, error) { return writer.Published{}, nil }
func (*rowsOf) Abort() error                     { return nil }

// rewrite writes other rows in place of the output's, with the same parts. With adapt the account has the new hashes.
func (f *fixture) rewrite(rows []writer.Row, schema writer.Schema, adapt bool) {
	f.t.Helper()
	o := writer.Options{
		Path: f.output, Format: writer.Format(f.account.Settings.OutputFormat), Folder: f.options.Output.IsFolder(), Schema: schema,
		PartRows: math.MaxInt64, Metadata: output.Metadata(f.account.Settings),
	}
	for _, out := range f.account.Outputs[1:] {
		o.Ends = append(o.Ends, out.FirstRecord-1)
	}
	sink, err := writer.Open(context.Background(), o)
	f.check(err)
	f.check(sink.Write(rows))
	published, err := sink.Close()
	f.check(err)
	if adapt {
		f.adapt(published.Files...)
	}
}

// adapt has the account, and the manifest, name other files.
func (f *fixture) adapt(files ...writer.File) {
	f.t.Helper()
	a := *f.account
	a.Outputs = nil
	for _, file := range files {
		a.Outputs = append(a.Outputs, account.Output(file))
	}
	f.check(runfiles.Write(f.t.Context(), runfiles.AccountPath(f.output), &a))
	if m, err := runfiles.ReadManifest(f.t.Context(), f.output); err == nil {
		for i := range min(len(m.Parts), len(a.Outputs)) {
			m.Parts[i].Output = a.Outputs[i]
		}
		f.check(runfiles.Write(f.t.Context(), runfiles.ManifestPath(f.output), m))
	}
}

// change changes the account.
func (f *fixture) change(change func(*account.Account)) {
	f.t.Helper()
	a := *f.account
	a.Outputs = slices.Clone(a.Outputs)
	change(&a)
	f.check(runfiles.Write(f.t.Context(), runfiles.AccountPath(f.output), &a))
}

// edit changes a file's bytes.
func (f *fixture) edit(path string, change func([]byte) []byte) {
	f.t.Helper()
	text, err := os.ReadFile(path)
	f.check(err)
	f.check(os.WriteFile(path, change(text), 0o666))
}

// part is the path of a part.
func (f *fixture) part(number int) string {
	return filepath.Join(f.output, fmt.Sprintf("part-%05d.%s", number, f.account.Settings.OutputFormat))
}

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// wantFinding fails the test if there is no finding about what.
func wantFinding(t *testing.T, r Report, what string) {
	t.Helper()
	if r.Balanced {
		t.Error("balanced, with findings")
	}
	if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.What == what }) {
		t.Errorf("no finding of %q among %d: %v", what, len(r.Findings), r.Findings)
	}
}
