package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
)

// inputs walks the input alongside the output.
type inputs struct {
	source *reader.Reader
	limit  int64 // of records; 0 for none
	layout *layout

	record reader.Record // read last; its number is 0 before the first
	err    error         // io.EOF at the end
}

func limitOf(account *pipeline.Account) int64 {
	if account == nil {
		return 0
	}
	return account.Settings.Limit
}

// read reads the next record; false at the end, and if the input cannot be read.
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

// at compares the rows of a group with the record of the input, and gives that record; nil if the input has
// no such record, or has been read beyond it.
func (in *inputs) at(g *group) *reader.Record {
	for in.record.Number < g.record {
		if !in.read() {
			if errors.Is(in.err, io.EOF) {
				g.finding("record", fmt.Sprintf("none, for the input has %d", in.record.Number), "rows")
			}
			return nil
		}
	}
	if in.record.Number > g.record {
		return nil // the output is out of order, which is a finding already
	}
	if g.place == 0 {
		g.report.Inputs++
	}
	got := g.rows[0]
	g.expect("input, by the input file", sameText(in.record.Input), sameText(got[atInput]))
	for i, place := range in.layout.places {
		expected := ""
		if place < len(in.record.Fields) { // a malformed record has no fields
			expected = in.record.Fields[place]
		}
		k := in.layout.carried + i
		g.expect(in.layout.names[k]+", by the input file", sameText(expected), sameText(got[k]))
	}
	return &in.record
}

// drain reads the records that the output has no rows of.
func (in *inputs) drain(ctx context.Context) error {
	for in.read() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// check compares the files with those of the account, after all records are read.
func (in *inputs) check(report *Report, account *pipeline.Account) {
	files := in.source.Files()
	expect(report, Finding{}, "input files", len(account.Inputs), len(files))
	for i := range min(len(files), len(account.Inputs)) {
		want, got := account.Inputs[i], files[i]
		if !want.Whole || !got.Whole {
			continue // not read to the end, by the run or now
		}
		where := Finding{File: got.Name}
		expect(report, where, "bytes", want.Bytes, got.Bytes)
		expect(report, where, "sha256", want.SHA256, got.SHA256)
	}
}

// sameText is s as every format gives it back: as valid UTF-8, and with LF for any CRs before an LF, which
// encoding/csv drops. The hashes of the files show such a difference.
func sameText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}

func sameTexts(texts []string) []string {
	same := slices.Clone(texts) // nil stays nil
	for i := range same {
		same[i] = sameText(same[i])
	}
	return same
}
