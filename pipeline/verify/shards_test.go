package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

const shardCount = 3

// shardsFixture are the shards of a short input.
type shardsFixture struct {
	t       *testing.T
	options ShardsOptions
	input   string
	column  string // of the input
	shape   writer.Shape
}

func newShardsFixture(t *testing.T, format writer.Format) *shardsFixture {
	t.Helper()
	dir := t.TempDir()
	f := &shardsFixture{t: t, input: filepath.Join(dir, "in.csv"), column: "url"}
	var text strings.Builder
	text.WriteString("url,note\n")
	for i := range 40 {
		fmt.Fprintf(&text, "site-%d.example.com,\"a\r\nb \x1a %d\"\n", i, i)
	}
	text.WriteString("no website,x\n,\n")
	f.check(os.WriteFile(f.input, []byte(text.String()), 0o666))
	f.runShards(format)
	return f
}

// runShards runs all shards, into a new folder.
func (f *shardsFixture) runShards(format writer.Format) {
	f.t.Helper()
	f.options.Folder = filepath.Join(f.t.TempDir(), "out")
	for n := range shardCount {
		f.run(record.Shard{Number: n + 1, Count: shardCount}, f.options.Folder+"/", format)
	}
	f.read()
}

// run runs a session over the input; its shard may be zero.
func (f *shardsFixture) run(shard record.Shard, output string, format writer.Format) {
	f.t.Helper()
	session, err := pipeline.Open(f.t.Context(), pipeline.SessionOptions{
		Kind: client.Website, Shard: shard,
		Service: pipeline.Service{Categorizer: byHost{}, Name: service, Hosted: true},
		Input:   reader.Options{Paths: []string{f.input}},
		Output:  pipeline.OutputOptions{Path: output, Format: format, PartRows: 4, Levels: 2, Carry: "all", Shape: f.shape},
		Limits:  limits.Options{Rate: math.Inf(1)},
	})
	f.check(err)
	_, err = session.Run(f.t.Context())
	f.check(errors.Join(err, session.Close()))
}

// read reads the accounts.
func (f *shardsFixture) read() {
	f.t.Helper()
	var err error
	f.options.Shards, err = record.ReadShards(context.Background(), f.options.Folder)
	f.check(err)
	f.options.Accounts, err = f.options.Shards.Accounts(context.Background(), f.options.Folder)
	f.check(err)
	f.options.Stores = make([]*answers.Store, shardCount)
}

func (f *shardsFixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *shardsFixture) verify() Report {
	f.t.Helper()
	input, err := reader.Open(reader.Options{Paths: []string{f.input}, Columns: []string{f.column}})
	f.check(err)
	defer input.Close()
	f.options.Input = input
	report, err := RunShards(f.t.Context(), f.options)
	f.check(err)
	return report
}

// folder is the folder of a shard.
func (f *shardsFixture) folder(number int) string {
	return filepath.Join(f.options.Folder, record.Shard{Number: number, Count: shardCount}.Folder())
}

// TestShardsAreMerged compares the merged rows with the file of a run without shards, byte for byte.
func TestShardsAreMerged(t *testing.T) {
	for _, format := range []writer.Format{writer.CSV, writer.TSV, writer.JSONL, writer.Parquet, "csv.gz", "jsonl.zst"} {
		t.Run(string(format), func(t *testing.T) {
			f := newShardsFixture(t, format)
			report := f.checkMerged(format)
			if report.Records != 42 || report.Inputs != 42 || report.Statuses[writer.StatusInvalid] != 2 {
				t.Errorf("got %+v", report)
			}
		})
	}
}

// checkMerged compares the merged rows with the file of a run without shards, byte for byte.
func (f *shardsFixture) checkMerged(format writer.Format) Report {
	f.t.Helper()
	merged, whole := filepath.Join(f.t.TempDir(), "merged"), filepath.Join(f.t.TempDir(), "whole")
	var sink writer.Sink
	f.options.Sink = func() (_ writer.Sink, err error) {
		schema := f.options.Shards.Settings.Schema()
		for _, c := range f.options.Accounts[0].Carried {
			schema.Carry, schema.CarryTypes = append(schema.Carry, c.Name), append(schema.CarryTypes, c.Type)
		}
		sink, err = writer.Open(writer.Options{Path: merged, Format: format, Schema: schema, Metadata: f.options.Shards.Settings.Metadata()})
		return sink, err
	}
	report := f.verify()
	if !report.Balanced {
		f.t.Fatalf("got %+v", report)
	}
	_, err := sink.Close()
	f.check(err)
	f.run(record.Shard{}, whole, format)
	got, err := os.ReadFile(merged)
	f.check(err)
	want, err := os.ReadFile(whole)
	f.check(err)
	if !bytes.Equal(got, want) {
		f.t.Errorf("the merged file has %d bytes, another than the %d of the whole", len(got), len(want))
	}
	return report
}

// TestTypedShardsAreMerged has carried columns of all types. Some shards have no record.
func TestTypedShardsAreMerged(t *testing.T) {
	for _, name := range []string{"types.parquet", "pandas.parquet", "pyarrow-int96.parquet"} {
		for shards, merged := range map[writer.Format][]writer.Format{
			writer.Parquet: {writer.Parquet, writer.JSONL, writer.CSV},
			writer.JSONL:   {writer.JSONL, writer.Parquet, writer.CSV},
			writer.CSV:     {writer.CSV},
		} {
			for _, shape := range []writer.Shape{writer.ShapeLong, writer.ShapeNested} {
				if shape.CheckFormat(shards) != nil {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", name, shards, shape), func(t *testing.T) {
					f := &shardsFixture{t: t, input: filepath.Join("../../reader/testdata/parquet", name), column: "domain", shape: shape}
					f.runShards(shards)
					for _, format := range merged {
						if shape.CheckFormat(format) == nil {
							f.checkMerged(format)
						}
					}
				})
			}
		}
	}
}

// TestTamperedShardsAreFound wants a finding for each fault.
func TestTamperedShardsAreFound(t *testing.T) {
	for name, tt := range map[string]struct {
		tamper func(f *shardsFixture)
		want   string // a part of a finding
	}{
		"a shard is missing": {func(f *shardsFixture) {
			f.check(os.RemoveAll(f.folder(2)))
		}, "shard=02-of-3: shard: expected a folder, got none"},
		"a shard has no account": {func(f *shardsFixture) {
			f.check(os.Remove(filepath.Join(f.folder(2), "_run.json")))
		}, "shard=02-of-3: shard: expected a complete run, got one without an account"},
		"a part is missing": {func(f *shardsFixture) {
			f.check(os.Remove(filepath.Join(f.folder(3), "part-00002.csv")))
		}, "part-00002.csv: part: expected the one of the account, got none"},
		"a part is empty": {func(f *shardsFixture) {
			f.check(os.Truncate(filepath.Join(f.folder(3), "part-00002.csv"), 0))
		}, "part-00002.csv: content: expected whole csv"},
		"a shard is not complete": {func(f *shardsFixture) {
			f.check(os.Remove(filepath.Join(f.folder(1), "_SUCCESS")))
		}, "_SUCCESS: file: expected one"},
		"a shard has the records of another": {func(f *shardsFixture) {
			f.check(os.RemoveAll(f.folder(1)))
			f.check(os.CopyFS(f.folder(1), os.DirFS(f.folder(2))))
		}, "or of two shards"},
		"a shard of another count": {func(f *shardsFixture) {
			f.check(os.Mkdir(filepath.Join(f.options.Folder, "shard=01-of-4"), 0o777))
		}, "shard=01-of-4: file: expected only the folders of 3 shards"},
		"a part beside the shards": {func(f *shardsFixture) {
			f.check(os.WriteFile(filepath.Join(f.options.Folder, "part-00001.csv"), nil, 0o666))
		}, "part-00001.csv: file: expected only the folders"},
		"an input that has changed": {func(f *shardsFixture) {
			text, err := os.ReadFile(f.input)
			f.check(err)
			f.check(os.WriteFile(f.input, bytes.Replace(text, []byte("site-7."), []byte("site-x."), 1), 0o666))
		}, "record 8: input, by the input file: expected"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newShardsFixture(t, writer.CSV)
			tt.tamper(f)
			f.read()
			report := f.verify()
			if report.Balanced || !slices.ContainsFunc(report.Findings, func(f Finding) bool { return strings.Contains(f.String(), tt.want) }) {
				t.Errorf("balanced %v, findings %v", report.Balanced, report.Findings)
			}
		})
	}
}

// TestShardsOfTwoInputsAreFound has an input that changed between the starts of two shards.
func TestShardsOfTwoInputsAreFound(t *testing.T) {
	f := newShardsFixture(t, writer.CSV)
	file, err := os.OpenFile(f.input, os.O_APPEND|os.O_WRONLY, 0)
	f.check(err)
	_, err = file.WriteString("later.example.com,x\n")
	f.check(errors.Join(err, file.Close()))
	f.run(record.Shard{Number: 3, Count: shardCount}, f.options.Folder+"/", writer.CSV)
	f.read()
	report := f.verify()
	for _, want := range []string{"shard=03-of-3: records of the input: expected 42, got 43", "shard=03-of-3: sha256 of the input"} {
		if !slices.ContainsFunc(report.Findings, func(f Finding) bool { return strings.Contains(f.String(), want) }) {
			t.Errorf("want %s, got %v", want, report.Findings)
		}
	}
}
