package verify

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// inputs reads the input in step with the output.
type inputs struct {
	source *reader.Reader
	limit  int64 // of records; 0 for none
	layout *layout

	record reader.Record // the last record that was read; Number is 0 before the first
	err    error         // io.EOF at the end
}

func limitOf(account *record.Account) int64 {
	if account == nil {
		return 0
	}
	return account.Settings.Limit
}

// read reads the next record; false at the end and after an error.
func (in *inputs) read() bool {
	if in.err == nil && in.limit > 0 && in.record.Number >= in.limit {
		in.err = io.EOF
	}
	if in.err != nil {
		return false
	}
	record, err := in.source.Read()
	if err != nil {
		in.err = err
		return false
	}
	in.record = record
	return true
}

// at compares the rows of a record with the input's record, which it returns; nil if the input
// has no record of that number, or has been read beyond it.
func (in *inputs) at(g *group) *reader.Record {
	for in.record.Number < g.record {
		if !in.read() {
			if in.err == io.EOF {
				g.finding("record", fmt.Sprintf("none, for the input has %d", in.record.Number), "rows")
			}
			return nil
		}
	}
	if in.record.Number > g.record {
		return nil // checkOrder reports it
	}
	if g.place == 0 {
		g.report.Inputs++
	}
	got := g.rows[0]
	g.expect("input, by the input file", sameText(in.record.Input), sameText(g.first(writer.ColumnInput)))
	for i, place := range in.layout.places {
		k := in.layout.carried + i
		text, null := in.field(place)
		g.expect(in.layout.names[k]+", by the input file", sameCell(g.file.Expected(k, text, null)), sameCell(got[k]))
	}
	return &in.record
}

// field returns a field of the last record. Empty fields are null in formats without nulls, and in
// malformed records, which have no fields.
func (in *inputs) field(place int) (text string, null bool) {
	if place < len(in.record.Fields) {
		text = in.record.Fields[place]
	}
	if place < len(in.record.Nulls) {
		return text, in.record.Nulls[place]
	}
	return text, text == ""
}

// drain reads the records after the output's last.
func (in *inputs) drain(ctx context.Context) error {
	for in.read() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkAll reads the input to its end, and compares its records with those of the output.
func (in *inputs) checkAll(ctx context.Context, report *Report, records int64) error {
	if err := in.drain(ctx); err != nil {
		return err
	}
	if in.err != io.EOF {
		report.add(Finding{What: "input", Expected: "to be read to its end", Got: in.err.Error()})
	}
	expect(report, Finding{}, "records, by the input", in.record.Number, records)
	return nil
}

// check compares the input's files with those in the account after all were read.
func (in *inputs) check(report *Report, account *record.Account) {
	files := in.source.Files()
	expect(report, Finding{}, "input files", len(account.Inputs), len(files))
	for i := range min(len(files), len(account.Inputs)) {
		want, got := account.Inputs[i], files[i]
		if !want.Whole || !got.Whole {
			continue // the run, or this verification, did not read the whole file
		}
		where := Finding{File: got.Name}
		expect(report, where, "bytes", want.Bytes, got.Bytes)
		expect(report, where, "sha256", want.SHA256, got.SHA256)
	}
}

// sameText is s as it reads back from any format: valid UTF-8, with LF for CRs followed by LF,
// which encoding/csv does not distinguish. The files' hashes do.
func sameText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}

// sameCell is sameText of a cell.
func sameCell(cell string) string {
	if cell == outputs.EmptyText {
		return cell
	}
	return sameText(cell)
}

func sameTexts(texts []string) []string {
	same := slices.Clone(texts) // nil stays nil
	for i := range same {
		same[i] = sameText(same[i])
	}
	return same
}
