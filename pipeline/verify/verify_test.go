package verify

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

var formats = []writer.Format{"csv", "tsv", "jsonl", "parquet", "csv.gz", "tsv.zst", "jsonl.gz", "jsonl.zst"}

func TestBalanced(t *testing.T) {
	for _, format := range formats {
		for _, folder := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s folder=%t", format, folder), func(t *testing.T) {
				t.Parallel() // it waits for the disk
				path, files := "out."+string(format), 1
				if folder {
					path, files = "out/", 4
				}
				f := newFixture(t, path, func(o *pipeline.Options) { o.Output.Format = format })
				r := f.verify()
				if !r.Balanced || r.Records != 8 || r.Rows != 14 || r.Files != files || r.Bytes == 0 || len(r.Unchecked) > 0 {
					t.Errorf("got %+v", r)
				}
				if r.Inputs != 8 || r.Answers != 7 || r.NotCompared != 0 || r.Statuses.OK != 5 {
					t.Errorf("got %+v", r.Counts)
				}
			})
		}
	}
}

// shapes are settings with the number of rows and of records with a category. The entries of the
// answers have the confidences 0.9, 0.8 and 0.7.
var shapes = []struct {
	schema   writer.Schema
	rows, ok int64
}{
	{writer.Schema{Form: writer.Form{Shape: writer.ShapeTop}}, 8, 5},
	{writer.Schema{Form: writer.Form{Shape: writer.ShapeNested}}, 8, 5},
	{writer.Schema{Form: writer.Form{Top: 2}}, 12, 5},
	{writer.Schema{Form: writer.Form{MinConfidence: 0.85}}, 8, 5},
	{writer.Schema{Form: writer.Form{MinConfidence: 0.95}}, 8, 0},
	{writer.Schema{Form: writer.Form{MinConfidence: 0.95, Shape: writer.ShapeNested}}, 8, 0},
	{writer.Schema{Form: writer.Form{Top: 2, MinConfidence: 0.75, Shape: writer.ShapeNested}}, 8, 5},
}

func TestShapesAreBalanced(t *testing.T) {
	for _, shape := range shapes {
		for _, format := range formats {
			if format.CheckShape(shape.schema.Shape) != nil {
				continue
			}
			for _, classifications := range [][]string{{client.TaxonomyV3}, {client.TaxonomyV3, client.NAICS}} {
				t.Run(fmt.Sprintf("%s top=%d from=%v %s %d", shape.schema.Shape, shape.schema.Top, shape.schema.MinConfidence, format, len(classifications)), func(t *testing.T) {
					t.Parallel() // it waits for the disk
					path := "out." + string(format)
					if format == writer.JSONL {
						path = "out/"
					}
					f := newFixture(t, path, func(o *pipeline.Options) {
						o.Classifications = classifications
						o.Output.Format, o.Output.Shape, o.Output.Top, o.Output.MinConfidence = format, shape.schema.Shape, shape.schema.Top, shape.schema.MinConfidence
					})
					r, n := f.verify(), int64(len(classifications))
					if !r.Balanced || r.Records != 8 || r.Rows != n*shape.rows || r.Statuses.OK != n*shape.ok || r.Answers != n*7 {
						t.Errorf("got %+v", r)
					}
				})
			}
		}
	}
}

// Carried columns of all types are those of the input.
func TestTypedColumnsAreBalanced(t *testing.T) {
	for _, name := range []string{"types.parquet", "pandas.parquet", "pyarrow-int96.parquet", "polars.parquet", "spark"} {
		for _, format := range formats[:4] {
			for _, shape := range []writer.Shape{writer.ShapeLong, writer.ShapeNested} {
				if format.CheckShape(shape) != nil {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", name, format, shape), func(t *testing.T) {
					t.Parallel() // it waits for the disk
					f := newFixture(t, "out."+string(format), func(o *pipeline.Options) {
						o.Input = reader.Options{Paths: []string{"../../reader/testdata/parquet/" + name}, Columns: []string{"domain"}}
						o.Output.Shape = shape
					})
					if r := f.verify(); !r.Balanced || r.Records == 0 || r.Inputs != r.Records || len(r.Unchecked) > 0 {
						t.Errorf("got %+v", r)
					}
					f.edit(f.output, func(b []byte) []byte { b[len(b)*2/3] ^= 1; return b }) // the rows are read back, too
					if r := f.verify(); r.Balanced {
						t.Errorf("damaged: %+v", r)
					}
					rows, schema := f.rows()
					last := &rows[len(rows)-1] // the rows before are the same, with their types
					last.Error = "another"
					f.rewrite(rows, schema, true)
					r := f.verify()
					if at := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Record > 0 }); at < 0 || r.Findings[at].Record != last.Record || r.Findings[at].What != "error" {
						t.Errorf("the last row of %d: %v", len(rows), r.Findings)
					}
				})
			}
		}
	}
}

func TestTamperedFilesAreFound(t *testing.T) {
	add := func(text string) func(f *fixture) {
		return func(f *fixture) { f.edit(f.input, func(b []byte) []byte { return append(b, text...) }) }
	}
	for name, tt := range map[string]struct {
		tamper func(f *fixture)
		want   string // of a finding; "" for an output that is balanced
	}{
		"end cut off":                    {func(f *fixture) { f.edit(f.output, func(b []byte) []byte { return b[:len(b)-20] }) }, "bytes"},
		"emptied":                        {func(f *fixture) { f.edit(f.output, func([]byte) []byte { return nil }) }, "content"},
		"count of the account":           {func(f *fixture) { f.change(func(a *account.Account) { a.Counts.OK++ }) }, "records ok, by the account"},
		"rows of the account":            {func(f *fixture) { f.change(func(a *account.Account) { a.Counts.Rows-- }) }, "rows, by the account"},
		"hash of the account":            {func(f *fixture) { f.change(func(a *account.Account) { a.Outputs[0].SHA256 = "0" }) }, "sha256"},
		"rows of the account's file":     {func(f *fixture) { f.change(func(a *account.Account) { a.Outputs[0].Rows++ }) }, "rows, first and last record, by the account"},
		"last record of the file":        {func(f *fixture) { f.change(func(a *account.Account) { a.Outputs[0].LastRecord++ }) }, "rows, first and last record, by the account"},
		"files of the account":           {func(f *fixture) { f.change(func(a *account.Account) { a.Outputs = nil }) }, "file"},
		"levels of the account":          {func(f *fixture) { f.change(func(a *account.Account) { a.Settings.Levels = 3 }) }, "content"},
		"carried columns of the account": {func(f *fixture) { f.change(func(a *account.Account) { a.Settings.Carry = "note" }) }, "content"},
		"top of the account":             {func(f *fixture) { f.change(func(a *account.Account) { a.Settings.Top = 1 }) }, "row"},
		"shape of the account":           {func(f *fixture) { f.change(func(a *account.Account) { a.Settings.Shape = "top" }) }, "row"},
		"ending of the account":          {func(f *fixture) { f.change(func(a *account.Account) { a.Ending = account.Failed }) }, "ending of the run"},
		"account removed":                {func(f *fixture) { f.check(os.Remove(runfiles.AccountPath(f.output))) }, "file"},
		"input grown":                    {add("more.example,\n"), "input"},
		"input changed":                  {func(f *fixture) { f.check(os.WriteFile(f.input, []byte("url,note\nx.example,\n"), 0o666)) }, "input"},
		"input cut off":                  {func(f *fixture) { f.edit(f.input, func(b []byte) []byte { return b[:len(b)-3] }) }, "input"},
		"input removed":                  {func(f *fixture) { f.check(os.Remove(f.input)) }, ""},
	} {
		for _, format := range []writer.Format{"csv", "parquet"} {
			t.Run(name+" "+string(format), func(t *testing.T) {
				t.Parallel() // it waits for the disk
				f := newFixture(t, "out."+string(format), nil)
				tt.tamper(f)
				r := f.verify()
				if tt.want != "" {
					wantFinding(t, r, tt.want)
					return
				}
				if !r.Balanced || r.Records != 8 || len(r.Unchecked) != 1 {
					t.Errorf("got %+v", r)
				}
			})
		}
	}
}

// An input that the account names has to be what the run has read. Its rows are compared up to the difference.
func TestInputOfAccount(t *testing.T) {
	more := func(name, text string) func(dir string) error {
		return func(dir string) error {
			file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
			if err != nil {
				return err
			}
			_, err = file.WriteString(text)
			return errors.Join(err, file.Close())
		}
	}
	for name, tt := range map[string]struct {
		limit  int64
		change func(dir string) error
		want   string // of the findings
	}{
		"the same":            {0, func(string) error { return nil }, ""},
		"grown":               {0, more("a.csv", "three.example\n"), "records, by the input; a.csv input; out.csv 2 input; "},
		"grown at the end":    {0, more("b.csv", "three.example\n"), "records, by the input; b.csv input; out.csv 3 row; "},
		"beyond the limit":    {1, more("b.csv", "three.example\n"), ""},
		"another beginning":   {0, func(dir string) error { return os.WriteFile(dir+"/a.csv", []byte("url\ntwo.example\n"), 0o666) }, "a.csv input; out.csv 1 input; "},
		"another file":        {0, more("c.csv", "url\nthree.example\n"), "records, by the input; input files; out.csv 3 row; "},
		"another file before": {0, more("0.csv", "url\nthree.example\n"), "records, by the input; input files; out.csv 1 input; "},
		"an output is no input": {0, func(dir string) error {
			return errors.Join(more("c.csv", "url\n")(dir), more("c.csv.run.json", "{}")(dir))
		}, ""},
	} {
		for _, isGlob := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s glob=%t", name, isGlob), func(t *testing.T) {
				var dir string
				f := newFixture(t, "out.csv", func(o *pipeline.Options) {
					dir = filepath.Join(filepath.Dir(o.Input.Paths[0]), "in")
					if err := errors.Join(os.Mkdir(dir, 0o777), more("a.csv", "url\none.example\n")(dir), more("b.csv", "url\ntwo.example\n")(dir)); err != nil {
						t.Fatal(err)
					}
					o.Input.Paths, o.Limit = []string{dir}, tt.limit
					if isGlob {
						o.Input.Paths = []string{filepath.Join(dir, "*.csv")}
					}
				})
				f.check(tt.change(dir))
				r, got := f.verify(), ""
				for _, finding := range r.Findings {
					if finding.File != "" {
						got += filepath.Base(finding.File) + " "
					}
					if finding.Record > 0 {
						got += fmt.Sprintf("%d ", finding.Record)
					}
					got += finding.What + "; "
				}
				isNamed := slices.ContainsFunc(r.Unchecked, func(reason string) bool { return strings.HasSuffix(reason, "name the one of the run") })
				if got != tt.want || r.Balanced != (tt.want == "") || isNamed == r.Balanced {
					t.Errorf("got %q: %+v", got, r)
				}
			})
		}
	}
}

// An input that is named has to be that of the run.
func TestNamedInput(t *testing.T) {
	for name, tt := range map[string]struct {
		change func([]byte) []byte
		want   []string // of the findings
	}{
		"the same":        {func(b []byte) []byte { return b }, nil},
		"another end":     {func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) }, []string{"input"}},
		"another record":  {func(b []byte) []byte { return bytes.Replace(b, []byte("none."), []byte("some."), 1) }, []string{"input", "input"}},
		"other columns":   {func([]byte) []byte { return []byte("kind,note\na,b\n") }, []string{"input"}},
		"one record more": {func(b []byte) []byte { return append(b, "more.example,\n"...) }, []string{"records, by the input", "input", "row"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "out.csv", nil)
			named := filepath.Join(t.TempDir(), "named.csv")
			f.check(os.WriteFile(named, tt.change([]byte(records)), 0o666))
			r, err := Run(t.Context(), Options{Output: f.output, Run: pipeline.Options{Program: "test", Input: reader.Options{Paths: []string{named}}}})
			f.check(err)
			var got []string
			for _, finding := range r.Findings {
				got = append(got, finding.What)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v", r.Findings)
			}
		})
	}
	f := newFixture(t, "out.csv", nil)
	_, err := Run(t.Context(), Options{Output: f.output, Run: pipeline.Options{Input: reader.Options{Paths: []string{f.input + ".none"}}}})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing input: %v", err)
	}
}

func TestTamperedFoldersAreFound(t *testing.T) {
	for name, tt := range map[string]struct {
		tamper func(f *fixture) error
		want   string
	}{
		"part removed":      {func(f *fixture) error { return os.Remove(f.part(2)) }, "file"},
		"last part removed": {func(f *fixture) error { return os.Remove(f.part(4)) }, "records, by the account"},
		"part added":        {func(f *fixture) error { return os.Link(f.part(2), f.part(5)) }, "file"},
		"parts swapped": {func(f *fixture) error {
			return errors.Join(os.Rename(f.part(1), f.part(9)), os.Rename(f.part(2), f.part(1)), os.Rename(f.part(9), f.part(2)))
		}, "row"},
		"not complete": {func(f *fixture) error { return os.Remove(runfiles.SuccessPath(f.output)) }, "file"},
		"foreign file": {func(f *fixture) error { return os.WriteFile(filepath.Join(f.output, "notes"), nil, 0o666) }, "file"},
		"manifest":     {func(f *fixture) error { return os.Remove(runfiles.ManifestPath(f.output)) }, "manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits for the disk
			f := newFixture(t, "out/", func(o *pipeline.Options) { o.Output.Format = writer.CSV })
			f.check(tt.tamper(f))
			wantFinding(t, f.verify(), tt.want)
		})
	}
}

// Answers that the store got after the run are no findings.
func TestAnswersThatCameLater(t *testing.T) {
	for _, tt := range []struct {
		name     string
		at       func(a *account.Account) time.Time
		balanced bool
	}{
		{"by a later run", func(a *account.Account) time.Time { return a.Ended.Add(time.Hour) }, true},
		{"in the run", func(a *account.Account) time.Time { return a.Started.Add(a.Ended.Sub(a.Started) / 2) }, false},
		{"before the run", func(a *account.Account) time.Time { return a.Started.Add(-time.Hour) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, "out.csv", nil)
			store, err := answers.Open(answers.Options{Path: f.account.Store, Source: service})
			f.check(err)
			batch := store.NewBatch()
			body := []byte(`{"taxonomy_v3":[{"value":"Another","confidence":0.5}]}`)
			request := client.Request{Kind: client.Website, Input: "https://two.example", Classification: client.TaxonomyV3}
			batch.Add(request, answers.Outcome{Answer: client.Answer{Body: body, AnsweredAt: tt.at(f.account)}})
			f.check(errors.Join(batch.Commit(), store.Close()))
			r := f.verify()
			if r.Balanced != tt.balanced || tt.balanced && (r.NotCompared != 1 || len(r.Unchecked) != 1) {
				t.Errorf("got %+v", r)
			}
			f.edit(f.output, func(b []byte) []byte { return bytes.Replace(b, []byte("déjà vu"), []byte("other"), 1) })
			if r := f.verify(); tt.balanced && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Record == 4 }) {
				t.Errorf("the carried column of that record: %+v", r)
			}
		})
	}
}

// Records without an answer are compared as far as they can be.
func TestRecordsWithoutAnAnswer(t *testing.T) {
	f := newFixture(t, "out.csv", func(o *pipeline.Options) {
		if err := os.WriteFile(o.Input.Paths[0], []byte(records+"fails.example,x\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	})
	if r := f.verify(); !r.Balanced || r.NotCompared != 1 || r.Answers != 7 || r.Statuses.Failed != 1 {
		t.Errorf("got %+v", r)
	}
	path := f.account.Store
	held, err := answers.Open(answers.Options{Path: path, Source: service, MustExist: true})
	f.check(err)
	if r := f.verify(); !r.Balanced || r.NotCompared != 1 {
		t.Errorf("a run has the store, too: %+v", r)
	}
	f.check(errors.Join(held.Close(), os.Rename(path, path+".moved")))
	if r := f.verify(); !r.Balanced || r.NotCompared != 8 || r.Answers != 0 || len(r.Unchecked) != 1 {
		t.Errorf("without the store: %+v", r)
	}
	if r, err := Run(t.Context(), Options{Output: f.output, Store: path + ".moved"}); err != nil || r.NotCompared != 1 {
		t.Errorf("a named store: %+v, %v", r, err)
	}
	if _, err := Run(t.Context(), Options{Output: f.output, Store: path}); !isMissing(err) {
		t.Errorf("a missing store: %v", err)
	}
	f.edit(f.output, func(b []byte) []byte { return bytes.Replace(b, []byte("3,rejected"), []byte("3,accepted"), 1) })
	if r := f.verify(); !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Record == 3 }) {
		t.Errorf("a damaged input, without the store: %+v", r)
	}
}

func isMissing(err error) bool { return errors.Is(err, answers.Missing) }

// The embedded service gives its answers again, in a taxonomy of the user, too.
func TestEmbeddedService(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree.csv")
	if err := os.WriteFile(tree, []byte("path,id\nSeating,1\nSeating > Sofas,2\nSeating > Chairs,3\nLamps,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(tree)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	custom, err := taxonomy.ReadCustom("product_taxonomy_custom_own", tree, file)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, "out.parquet", func(o *pipeline.Options) {
		o.Kind, o.Classifications, o.Taxonomies = client.Product, []string{custom.Name, client.ProductTaxonomy}, []*taxonomy.Custom{custom}
		o.Service = pipeline.Service{Name: "embedded", Free: true, Attempter: embedded.New(embedded.Options{Custom: []*taxonomy.Custom{custom}})}
		o.Input.Columns = []string{"note"}
		if err := os.WriteFile(o.Input.Paths[0], []byte("note\nred sofa\ndesk lamp\n\noak chair\n"+strings.Repeat("x", 5000)+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	})
	if r := f.verify(); !r.Balanced || len(r.Unchecked) != 1 || r.Answers != 0 || r.NotCompared != 8 {
		t.Errorf("without the taxonomy: %+v", r)
	}
	own := Options{Output: f.output, Run: pipeline.Options{Program: "test", Taxonomies: []*taxonomy.Custom{custom}}}
	if r, err := Run(t.Context(), own); err != nil || !r.Balanced || len(r.Unchecked) > 0 || r.NotCompared != 0 {
		t.Errorf("with the taxonomy: %+v, %v", r, err)
	}
	edited := *custom
	edited.Categories = slices.Clone(custom.Categories)
	edited.Categories[3].ID = "5"
	other := Options{Output: f.output, Run: pipeline.Options{Program: "test", Taxonomies: []*taxonomy.Custom{&edited}}}
	want := Finding{What: "taxonomies and models", Expected: "those of the run, embedded+" + custom.Fingerprint(), Got: edited.Fingerprint()}
	if r, err := Run(t.Context(), other); err != nil || r.Balanced || !slices.Equal(r.Findings, []Finding{want}) || !strings.Contains(r.Unchecked[0], "name the taxonomies and the models of the run") {
		t.Errorf("with another taxonomy: %+v, %v", r, err)
	}
	edited.Name = "product_taxonomy_custom_unused"
	if r, err := Run(t.Context(), other); err != nil || !r.Balanced {
		t.Errorf("with a taxonomy that no row needs: %+v, %v", r, err)
	}
	rows, schema := f.rows()
	now := rows[0].AnsweredAt
	rows[0].AnsweredAt = now.Add(time.Hour)
	f.rewrite(rows, schema, true)
	if r, err := Run(t.Context(), own); err != nil || len(r.Findings) != 1 || r.Findings[0].Record != 1 || r.Findings[0].What != "answered_at" {
		t.Errorf("a time after the run: %+v, %v", r.Findings, err)
	}
	rows[0].AnsweredAt, rows[0].CategoryID = now, "9"
	f.rewrite(rows, schema, true)
	if r, err := Run(t.Context(), own); err != nil || len(r.Findings) != 1 || r.Findings[0].Record != 1 || r.Findings[0].What != "category_id" {
		t.Errorf("a changed id: %+v, %v", r.Findings, err)
	}
}

// Objects are verified as files are, and shards as folders.
func TestObjectsAndShards(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	bucket, url := storagetest.New()
	f := newFixture(t, url+"/out.csv", nil)
	if r := f.verify(); !r.Balanced || r.Answers != 7 || r.Files != 1 {
		t.Errorf("an object: %+v", r)
	}
	text, err := storage.ReadFile(t.Context(), f.output)
	f.check(err)
	bucket.Set("copy/out.csv", strings.Replace(string(text), "one.example,last", "one.example,lost", 1))
	_, key, _ := strings.Cut(strings.TrimPrefix(f.output, "mem://"), "/")
	bucket.Set(key, strings.Replace(string(text), "one.example,last", "one.example,lost", 1))
	if r := f.verify(); !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Record == 8 && f.What == "note" }) {
		t.Errorf("a damaged object: %+v", r)
	}
	for name, path := range map[string]string{"files": "out/", "objects": url + "/shards/"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, path, func(o *pipeline.Options) {
				o.Output.Format, o.Shard = writer.CSV, account.Shard{Number: 1, Count: 3}
			})
			for n := 2; n < 4; n++ {
				wantFinding(t, f.verify(), "shard")
				f.options.Shard.Number = n
				f.run()
			}
			wantFinding(t, f.verify(), "file")
			f.check(storage.Publish(t.Context(), runfiles.SuccessPath(f.output), nil))
			r := f.verify()
			if !r.Balanced || r.Records != 8 || r.Inputs != 8 || r.Answers != 7 || r.Rows != 14 {
				t.Errorf("got %+v", r)
			}
			part := f.account.Outputs[0]
			text, err := storage.ReadFile(t.Context(), part.Path)
			f.check(err)
			f.check(storage.Publish(t.Context(), part.Path, bytes.Replace(text, []byte("ok"), []byte("empty"), 1)))
			if r := f.verify(); !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Record > 0 && f.What == "status" }) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// Nothing of the user's is written or replaced.
func TestNothingIsWritten(t *testing.T) {
	for _, path := range []string{"out.csv", "out/"} {
		f := newFixture(t, path, nil)
		f.edit(f.account.Outputs[0].Path, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		dir := filepath.Dir(f.output)
		before := tree(t, dir)
		if r := f.verify(); r.Balanced {
			t.Errorf("got %+v", r)
		}
		if after := tree(t, dir); !slices.Equal(before, after) {
			t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
	}
}

// tree lists the files in a folder, with their times and hashes.
func tree(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" { // of the store, which is open for reading
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		list = append(list, fmt.Sprintf("%s %v %x", path, info.ModTime(), sha256.Sum256(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestMissingOutput(t *testing.T) {
	if _, err := Run(t.Context(), Options{Output: filepath.Join(t.TempDir(), "none.csv")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
