package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/writer"
)

var formats = []writer.Format{"csv", "tsv", "jsonl", "parquet", "csv.gz", "tsv.zst", "jsonl.gz", "jsonl.zst"}

var (
	uncompressed = formats[:4]                                    // for tests of the rows
	extensions   = []writer.Format{"csv", "parquet", "jsonl.zst"} // for tests of file names
)

func TestBalanced(t *testing.T) {
	for _, format := range formats {
		for _, folder := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s folder=%t", format, folder), func(t *testing.T) {
				t.Parallel() // it waits for the disk
				f := newFixture(t, format, folder)
				r := f.verify()
				for _, finding := range r.Findings {
					t.Error(finding)
				}
				files := 1
				if folder {
					files = 4
				}
				if !r.Balanced || r.Records != 8 || r.Rows != 14 || r.Files != files || r.Bytes == 0 {
					t.Errorf("got %+v", r.Figures)
				}
				if r.Inputs != 8 || r.Stored != 7 || r.NotStored != 0 || r.Statuses[writer.StatusOK] != 5 {
					t.Errorf("got %+v", r.Figures)
				}
			})
		}
	}
}

// tamperings are changes of the rows, which are
//
//	0-2 record 1, 3 record 2 (empty), 4 record 3 (rejected), 5-6 record 4,
//	7 record 5 (invalid), 8-10 record 6, 11-12 record 7, 13 record 8
var tamperings = []struct {
	name   string
	tamper func(rows []writer.Row) []writer.Row
	want   string
}{
	{"first row of a record removed", func(r []writer.Row) []writer.Row { return slices.Delete(r, 0, 1) }, "rank"},
	{"last row of a record removed", func(r []writer.Row) []writer.Row { return slices.Delete(r, 2, 3) }, "entries, by the store"},
	{"record removed", func(r []writer.Row) []writer.Row { return slices.Delete(r, 3, 4) }, "records"},
	{"last record removed", func(r []writer.Row) []writer.Row { return r[:13] }, "records, by the input"},
	{"all records removed", func(r []writer.Row) []writer.Row { return nil }, "records, by the account"},
	{"row doubled", func(r []writer.Row) []writer.Row { return slices.Insert(r, 1, r[0]) }, "rank"},
	{"row without an entry doubled", func(r []writer.Row) []writer.Row { return slices.Insert(r, 3, r[3]) }, "rows"},
	{"record again at the end", func(r []writer.Row) []writer.Row { return append(r, r[3]) }, "order"},
	{"rows apart", func(r []writer.Row) []writer.Row { r[2], r[3] = r[3], r[2]; return r }, "order"},
	{"rows of a record swapped", func(r []writer.Row) []writer.Row { r[0], r[1] = r[1], r[0]; return r }, "rank"},
	{"records swapped", func(r []writer.Row) []writer.Row { r[3], r[4] = r[4], r[3]; return r }, "order"},
	{"record added", func(r []writer.Row) []writer.Row { x := r[3]; x.Record = 9; return append(r, x) }, "record"},
	{"record number none", func(r []writer.Row) []writer.Row { r[13].Record = -1; return r }, "record"},
	{"rank changed", func(r []writer.Row) []writer.Row { r[5].Rank = 3; return r }, "rank"},
	{"rank without an entry", func(r []writer.Row) []writer.Row { r[3].Rank = 1; return r }, "rank"},
	{"status of all rows changed", func(r []writer.Row) []writer.Row { r[13].Status = writer.StatusEmpty; return r }, "status, by the store"},
	{"status of one row changed", func(r []writer.Row) []writer.Row { r[1].Status = writer.StatusEmpty; return r }, "status of another row"},
	{"status unknown", func(r []writer.Row) []writer.Row { r[3].Status = "done"; return r }, "status"},
	{"invalid become ok", func(r []writer.Row) []writer.Row { r[7].Status = writer.StatusOK; return r }, "status"},
	{"empty become invalid", func(r []writer.Row) []writer.Row { r[3].Status = writer.StatusInvalid; return r }, "status"},
	{"value changed", func(r []writer.Row) []writer.Row { r[0].Value = "Top 0 > Sub > Other"; return r }, "value, by the store"},
	{"value removed", func(r []writer.Row) []writer.Row { r[0].Value = ""; return r }, "value"},
	{"id without an entry", func(r []writer.Row) []writer.Row { r[3].CategoryID = "1"; return r }, "category_id"},
	{"confidence changed", func(r []writer.Row) []writer.Row { r[0].Confidence = 0.900001; return r }, "confidence, by the store"},
	{"level changed", func(r []writer.Row) []writer.Row { r[0].Levels = []string{"Top 1", "Sub"}; return r }, "level_1"},
	{"level removed", func(r []writer.Row) []writer.Row { r[0].Levels = []string{"Top 0"}; return r }, "level_2"},
	{"classification changed", func(r []writer.Row) []writer.Row { r[3].Classification = "naics"; return r }, "classification"},
	{"reason changed", func(r []writer.Row) []writer.Row { r[4].Error = "HTTP 400"; return r }, "error, by the store"},
	{"reason removed", func(r []writer.Row) []writer.Row { r[4].Error = ""; return r }, "error"},
	{"reason added", func(r []writer.Row) []writer.Row { r[3].Error = "why"; return r }, "error"},
	{"input changed", func(r []writer.Row) []writer.Row { r[3].Input = "none.example "; return r }, "input, by the input file"},
	{"carried value changed", func(r []writer.Row) []writer.Row { r[13].Fields[1] = "Last"; return r }, "note, by the input file"},
	{"carried value of one row changed", func(r []writer.Row) []writer.Row { r[1].Fields[1] = "x"; return r }, "note of another row"},
	{"time changed", func(r []writer.Row) []writer.Row {
		r[13].AnsweredAt = r[13].AnsweredAt.Add(time.Microsecond)
		return r
	}, "answered_at, by the store"},
}

func TestTamperedRowsAreFound(t *testing.T) {
	for _, format := range formats {
		f := newFixture(t, format, false)
		rows := f.rows()
		for _, tt := range tamperings {
			t.Run(string(format)+" "+tt.name, func(t *testing.T) {
				f.t = t
				f.rewrite(tt.tamper(deepCopy(rows)))
				wantFinding(t, f.verify(), tt.want)
			})
		}
		f.t = t
		f.rewrite(rows)
		if r := f.verify(); !r.Balanced {
			t.Errorf("%s: written anew as it was: %v", format, r.Findings)
		}
	}
}

// With two classifications, each record has the rows of the first before those of the second:
//
//	0-2 and 3-5 record 1, 6 and 7 record 2 (empty), 8 and 9 record 3 (rejected), ...
func TestTwoClassifications(t *testing.T) {
	for _, format := range uncompressed {
		f := newFixture(t, format, false, client.TaxonomyV3, client.NAICS)
		rows := f.rows()
		report := f.verify()
		for _, finding := range report.Findings {
			t.Error(finding)
		}
		if !report.Balanced || report.Records != 8 || report.Rows != 28 || report.Inputs != 8 || report.Stored != 14 ||
			report.Statuses[writer.StatusOK] != 10 || report.Statuses[writer.StatusInvalid] != 2 {
			t.Errorf("%s: got %+v", format, report.Figures)
		}
		for _, tt := range []struct {
			name   string
			tamper func(rows []writer.Row) []writer.Row
			want   string
		}{
			{"first classification removed", func(r []writer.Row) []writer.Row { return slices.Delete(r, 6, 7) }, "classification"},
			{"second classification removed", func(r []writer.Row) []writer.Row { return slices.Delete(r, 3, 6) }, "classification"},
			{"second classification of the last record removed", func(r []writer.Row) []writer.Row { return r[:27] }, "classification"},
			{"classifications swapped", func(r []writer.Row) []writer.Row { r[6], r[7] = r[7], r[6]; return r }, "classification"},
			{"classification doubled", func(r []writer.Row) []writer.Row { return slices.Insert(r, 8, r[6]) }, "classification"},
			{"rows of a classification apart", func(r []writer.Row) []writer.Row { r[2], r[3] = r[3], r[2]; return r }, "classification"},
			{"title changed", func(r []writer.Row) []writer.Row { r[3].Title = "T7"; return r }, "title, by the store"},
			{"title of a path", func(r []writer.Row) []writer.Row { r[0].Title = "T7"; return r }, "title, by the store"},
			{"code changed", func(r []writer.Row) []writer.Row { r[4].Value = "541512"; return r }, "value, by the store"},
			{"prefix changed", func(r []writer.Row) []writer.Row { r[4].Levels = []string{"54", "542"}; return r }, "level_2"},
			{"invalid in one become ok", func(r []writer.Row) []writer.Row { r[15].Status = writer.StatusOK; return r }, "status"},
		} {
			t.Run(string(format)+" "+tt.name, func(t *testing.T) {
				f.t = t
				f.rewrite(tt.tamper(deepCopy(rows)))
				wantFinding(t, f.verify(), tt.want)
			})
		}
		f.t = t
		f.rewrite(rows)
		f.account = nil // all that is found then
		if r := f.verify(); len(r.Findings) != 1 || !slices.Equal(r.Classifications, []string{client.TaxonomyV3, client.NAICS}) {
			t.Errorf("%s: without account: %v, classifications %q", format, r.Findings, r.Classifications)
		}
	}
}

func deepCopy(rows []writer.Row) []writer.Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Fields = slices.Clone(rows[i].Fields)
	}
	return rows
}

// Answers that the store got after the run are no findings.
func TestAnswersThatCameLater(t *testing.T) {
	for _, tt := range []struct {
		name    string
		service string
		at      func(a *record.Account) time.Time

		overlapped, balanced bool
	}{
		{"by a later run", service, func(a *record.Account) time.Time { return a.Ended.Add(time.Hour) }, false, true},
		{"in the run, to an equal input", service, func(a *record.Account) time.Time { return a.Started.Add(a.Ended.Sub(a.Started) / 2) }, false, false},
		{"in the run, where some cost nothing", "embedded", func(a *record.Account) time.Time { return a.Started.Add(a.Ended.Sub(a.Started) / 2) }, false, true},
		{"before the run", "embedded", func(a *record.Account) time.Time { return a.Started.Add(-time.Hour) }, false, false},
		{"in the run, beside another run", service, func(a *record.Account) time.Time { return a.Started.Add(a.Ended.Sub(a.Started) / 2) }, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, writer.CSV, false)
			f.account.Service, f.account.Overlapped = tt.service, tt.overlapped
			if tt.service != service {
				rows := f.rows()
				for i := range rows {
					rows[i].Source = tt.service
				}
				f.rewrite(rows)
			}
			request := client.Request{Kind: client.Website, Input: "https://two.example", Classification: client.TaxonomyV3}
			batch := f.store.NewBatch()
			body := []byte(`{"taxonomy_v3":[{"value":"Another","confidence":0.5}]}`)
			batch.Add(request, answers.Outcome{Answer: client.Answer{Body: body, AnsweredAt: tt.at(f.account)}})
			f.check(batch.Commit())
			if report := f.verify(); report.Balanced != tt.balanced {
				t.Errorf("balanced %t: %v", report.Balanced, report.Findings)
			}
		})
	}
	v := &verification{Options: Options{Account: &record.Account{Service: service, Started: time.Unix(1000, 0), Ended: time.Unix(2000, 0)}}}
	during := answers.Outcome{Answer: client.Answer{AnsweredAt: time.Unix(1500, 0)}}
	for status, later := range map[writer.Status]bool{
		writer.StatusFailed: true, writer.StatusPending: true, writer.StatusOK: false, writer.StatusRejected: false,
	} {
		l, _ := newLayout(writer.Schema{}.Names(), nil, nil)
		r := make(outputs.Row, len(l.names))
		r[l.at[writer.ColumnStatus]] = string(status)
		if got := v.isLater(&group{layout: l, rows: []outputs.Row{r}}, during); got != later {
			t.Errorf("%s: later %t", status, got)
		}
	}
}

func TestSameText(t *testing.T) {
	for text, want := range map[string]string{"a\r\nb": "a\nb", "a\r\r\nb": "a\nb", "a\rb": "a\rb", "a\xffb": "a\uFFFDb", "a\n\rb": "a\n\rb"} {
		if got := sameText(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTamperedFilesAreFound(t *testing.T) {
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	type tampering struct {
		name   string
		tamper func(f *fixture)
		want   string
	}
	check := func(formats []writer.Format, tt tampering) {
		for _, format := range formats {
			t.Run(tt.name+" "+string(format), func(t *testing.T) {
				t.Parallel() // it waits for the disk
				f := newFixture(t, format, false)
				tt.tamper(f)
				wantFinding(t, f.verify(), tt.want)
			})
		}
	}
	for _, tt := range []tampering{
		{"byte flipped", func(f *fixture) { f.edit(f.output, flip) }, "sha256"},
		{"end cut off", func(f *fixture) { f.edit(f.output, func(b []byte) []byte { return b[:len(b)-20] }) }, "bytes"},
		{"emptied", func(f *fixture) { f.edit(f.output, func([]byte) []byte { return nil }) }, "rows"},
	} {
		check(formats, tt)
	}
	for _, tt := range []tampering{
		{"count of the account", func(f *fixture) { f.account.Counts.OK++ }, "records ok, by the account"},
		{"rows of the account", func(f *fixture) { f.account.Counts.Rows-- }, "rows, by the account"},
		{"hash of the account", func(f *fixture) { f.account.Outputs[0].SHA256 = "0" }, "sha256"},
		{"rows of the account's file", func(f *fixture) { f.account.Outputs[0].Rows++ }, "rows"},
		{"last record of the account's file", func(f *fixture) { f.account.Outputs[0].LastRecord++ }, "last record"},
		{"files of the account", func(f *fixture) { f.account.Outputs = nil }, "files of the account"},
		{"levels of the account", func(f *fixture) { f.account.Settings.Levels = 3 }, "columns"},
		{"levels of the account below 0", func(f *fixture) { f.account.Settings.Levels = -9 }, "columns"},
		{"carried columns of the account", func(f *fixture) { f.account.Settings.Carry = "note" }, "columns"},
		{"ending of the account", func(f *fixture) { f.account.Ending = record.Failed }, "ending of the run"},
		{"account removed", func(f *fixture) { f.account = nil }, "account"},
		{"input's line ends", func(f *fixture) {
			f.edit(f.input, func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) })
		}, "sha256"},
		{"input's record changed", func(f *fixture) {
			f.edit(f.input, func(b []byte) []byte { return bytes.Replace(b, []byte("none."), []byte("some."), 1) })
		}, "input, by the input file"},
		{"input's record added", func(f *fixture) {
			f.edit(f.input, func(b []byte) []byte { return append(b, "more.example,\n"...) })
		}, "records, by the input"},
	} {
		check(uncompressed, tt)
	}
}

func TestTamperedFoldersAreFound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tamper func(f *fixture) error
		want   string
	}{
		{"part removed", func(f *fixture) error { return os.Remove(f.part("part-00002")) }, "part"},
		{"last part removed", func(f *fixture) error { return os.Remove(f.part("part-00004")) }, "records, by the account"},
		{"part added", func(f *fixture) error { return os.Link(f.part("part-00002"), f.part("part-00005")) }, "part"},
		{"parts swapped", func(f *fixture) error {
			return errors.Join(os.Rename(f.part("part-00001"), f.part("x")),
				os.Rename(f.part("part-00002"), f.part("part-00001")), os.Rename(f.part("x"), f.part("part-00002")))
		}, "order"},
		{"not complete", func(f *fixture) error { return os.Remove(filepath.Join(f.output, outputs.SuccessName)) }, "file"},
		{"foreign file", func(f *fixture) error { return os.WriteFile(f.part("notes"), nil, 0o666) }, "file"},
		{"number left out, without account", func(f *fixture) error {
			f.account = nil
			return os.Rename(f.part("part-00004"), f.part("part-00007"))
		}, "number of the part"},
	} {
		for _, format := range extensions {
			t.Run(tt.name+" "+string(format), func(t *testing.T) {
				t.Parallel() // it waits for the disk
				f := newFixture(t, format, true)
				f.check(tt.tamper(f))
				wantFinding(t, f.verify(), tt.want)
			})
		}
	}
}

func (f *fixture) part(name string) string {
	return filepath.Join(f.output, name+"."+string(f.format))
}

// A flipped bit in any byte is a finding and causes no panic.
func TestEveryByteCounts(t *testing.T) {
	for _, format := range []writer.Format{"csv", "jsonl", "parquet", "csv.gz", "tsv.zst"} {
		f := newFixture(t, format, false)
		whole, err := os.ReadFile(f.output)
		f.check(err)
		for i := 0; i < len(whole); i += 23 {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 0x41
			f.check(os.WriteFile(f.output, damaged, 0o666))
			if r, err := Run(t.Context(), Options{Output: f.output, Account: f.account}); err != nil || r.Balanced {
				t.Fatalf("%s: byte %d flipped: balanced %t, %v", format, i, r.Balanced, err)
			}
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	f := newFixture(t, writer.CSV, false)
	rows := f.rows()
	for i := range rows {
		rows[i].Classification, rows[i].Rank = "other", 9
	}
	f.rewrite(rows)
	r := f.verify()
	if len(r.Findings) != MaxFindings || r.Omitted == 0 {
		t.Errorf("%d findings, %d omitted", len(r.Findings), r.Omitted)
	}
}

func TestRunErrors(t *testing.T) {
	f := newFixture(t, writer.CSV, false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ended, Options{Output: f.output, Account: f.account}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Run(t.Context(), Options{Output: f.output + "x"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestFindingString(t *testing.T) {
	got := Finding{File: "out.csv", Record: 12, What: "rank", Expected: "2", Got: "3"}.String()
	if want := "out.csv: record 12: rank: expected 2, got 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
