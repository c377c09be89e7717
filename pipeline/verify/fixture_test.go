package verify

import (
	"context"
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
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
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

func (byHost) Categorize(_ context.Context, r client.Request) (client.Answer, error) {
	count := map[string]int{"one": 1, "two": 2, "three": 3}
	host, _, _ := strings.Cut(strings.TrimPrefix(r.Input, "https://"), ".")
	if host == "rejected" {
		return client.Answer{}, &client.Error{Class: client.Rejected, Status: 422, Detail: "not this one"}
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

// fixture has the output, the account and the store of a run.
type fixture struct {
	t       *testing.T
	output  string
	format  writer.Format
	folder  bool
	input   string
	store   *answers.Store
	schema  writer.Schema
	account *record.Account
}

// newFixture runs the pipeline over records, in the first classification or those given.
func newFixture(t *testing.T, format writer.Format, folder bool, classifications ...string) *fixture {
	t.Helper()
	return newShapedFixture(t, writer.Schema{}, format, folder, classifications...)
}

// newShapedFixture is newFixture with the shape, the top and the least confidence of a schema.
func newShapedFixture(t *testing.T, shaped writer.Schema, format writer.Format, folder bool, classifications ...string) *fixture {
	t.Helper()
	if classifications == nil {
		classifications = []string{client.TaxonomyV3}
	}
	dir := t.TempDir()
	f := &fixture{
		t: t, format: format, folder: folder, input: filepath.Join(dir, "in.csv"), output: filepath.Join(dir, "out"),
		schema: writer.Schema{
			Levels: 2, SourceColumns: true, Carry: []string{"url", "note"},
			Shape: shaped.Shape, Top: shaped.Top, MinConfidence: shaped.MinConfidence,
		},
	}
	if slices.Contains(classifications, client.NAICS) {
		f.schema.Titles = true
	}
	path := f.output + "/"
	if !folder {
		f.output += "." + string(format)
		path = f.output
	}
	f.check(os.WriteFile(f.input, []byte(records), 0o666))
	stored := answers.Options{Dir: filepath.Join(dir, "store"), Source: service}
	session, err := pipeline.Open(t.Context(), pipeline.SessionOptions{
		Kind: client.Website, Classifications: classifications, Retry: client.RetryPolicy{MaxAttempts: 1},
		Service: pipeline.Service{Categorizer: byHost{}, Name: service, Hosted: true},
		Input:   reader.Options{Paths: []string{f.input}},
		Output:  pipeline.OutputOptions{Path: path, Format: format, PartRows: 4, Levels: 2, Carry: "all", SourceColumns: true, Shape: shaped.Shape, Top: shaped.Top, MinConfidence: shaped.MinConfidence},
		Store:   pipeline.StoreOptions{Dir: stored.Dir},
		Limits:  limits.Options{Rate: math.Inf(1)},
		Program: "test",
	})
	f.check(err)
	defer session.Close()
	f.account, err = session.Run(t.Context())
	f.check(err)
	f.store, err = answers.Open(stored)
	f.check(err)
	t.Cleanup(func() { f.store.Close() })
	return f
}

func (f *fixture) open() *reader.Reader {
	f.t.Helper()
	source, err := reader.Open(reader.Options{Paths: []string{f.input}, Columns: []string{"url"}})
	f.check(err)
	return source
}

func (f *fixture) sink() writer.Sink {
	f.t.Helper()
	sink, err := writer.Open(writer.Options{Path: f.output, Format: f.format, Folder: f.folder, PartRows: 4, Schema: f.schema})
	f.check(err)
	return sink
}

// verify compares the output with the account, the input and the store.
func (f *fixture) verify() Report {
	f.t.Helper()
	source := f.open()
	defer source.Close()
	report, err := Run(f.t.Context(), Options{Output: f.output, Account: f.account, Input: source, Store: f.store})
	if err != nil {
		f.t.Fatal(err)
	}
	return report
}

// rows reads the output back. A row of the shape nested has the category columns of its list only.
func (f *fixture) rows() []writer.Row {
	f.t.Helper()
	in, err := outputs.Open(context.Background(), outputs.Part{Path: f.output, Format: f.format}, membersOf(f.account))
	if err != nil {
		f.t.Fatal(err)
	}
	defer in.Close()
	l, _ := newLayout(in.Columns(), f.account, nil)
	var rows []writer.Row
	f.check(in.Rows(func(read []outputs.Row) error {
		if f.schema.Shape != writer.ShapeNested {
			rows = append(rows, l.typed(read[0], true))
			return nil
		}
		typed := l.typed(read[0], false)
		for _, r := range read {
			if l.cell(r, writer.ColumnRank) != "" {
				typed.Categories = append(typed.Categories, l.typed(r, true))
			}
		}
		rows = append(rows, typed)
		return nil
	}))
	return rows
}

// rewrite writes the output again, and adapts the account to the file, so that all findings are
// in the rows.
func (f *fixture) rewrite(rows []writer.Row) {
	f.t.Helper()
	sink := f.sink()
	if err := sink.Write(rows); err != nil {
		f.t.Fatal(err)
	}
	published, err := sink.Close()
	if err != nil {
		f.t.Fatal(err)
	}
	f.account.Outputs = nil
	for _, file := range published.Files {
		f.account.Outputs = append(f.account.Outputs, record.Output{
			Name: file.Path, Bytes: file.Bytes, SHA256: file.SHA256,
			Rows: file.Rows, FirstRecord: file.FirstRecord, LastRecord: file.LastRecord,
		})
	}
}

// edit changes a file's bytes.
func (f *fixture) edit(path string, change func([]byte) []byte) {
	f.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, change(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
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
	for _, finding := range r.Findings {
		if finding.What == what {
			if r.Balanced {
				t.Error("balanced, with findings")
			}
			return
		}
	}
	t.Errorf("no finding of %q among %d:", what, len(r.Findings))
	for _, finding := range r.Findings {
		t.Log(finding)
	}
}
