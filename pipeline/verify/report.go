package verify

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/writer"
)

// Report is the result of a verification.
type Report struct {
	Balanced bool `json:"balanced"`
	Counts
	Findings  []Finding `json:"findings"`              // the first MaxFindings
	Omitted   int64     `json:"omitted"`               // the number of further findings
	Unchecked []string  `json:"not_checked,omitempty"` // what could not be compared, and why
}

// MaxFindings is the most findings in a report: a typical fault affects all records.
const MaxFindings = 20

// Counts are counts of the output, and of the records and answers that were compared.
type Counts struct {
	Records  int64            `json:"records"`
	Statuses account.Statuses `json:"statuses"` // records by status, in each classification
	Rows     int64            `json:"rows"`
	Files    int              `json:"files"`
	Bytes    int64            `json:"bytes"`

	Inputs      int64 `json:"inputs_compared"`  // records of the input whose rows were written again
	Answers     int64 `json:"answers_compared"` // records with the answer of the run, in each classification
	NotCompared int64 `json:"answers_not_compared"`

	Free  int64          `json:"free,omitempty"`  // records that a model has answered for free, by the account
	Audit *account.Audit `json:"audit,omitempty"` // of the free records; nil if no model has answered

	Classifications []string `json:"classifications"` // of every record
}

// Finding is one difference from an expected value.
type Finding struct {
	File     string `json:"file,omitempty"`
	Record   int64  `json:"record,omitempty"` // 0 if the finding is not about a record
	What     string `json:"what"`             // a column, or a property of the file or run
	Expected string `json:"expected"`         // a value; if a record differs, its row
	Got      string `json:"got"`
}

// ShardFinding is the What of a finding about a shard that is missing or not complete. File is the shard's folder.
const ShardFinding = "shard"

// String returns, for example, "out.csv: record 12: confidence: expected 12,a,ok,0.5, got 12,a,ok,0.7".
func (f Finding) String() string {
	text := fmt.Sprintf("%s: expected %s, got %s", f.What, f.Expected, f.Got)
	if f.Record != 0 {
		text = fmt.Sprintf("record %d: %s", f.Record, text)
	}
	if f.File != "" {
		text = f.File + ": " + text
	}
	return text
}

// add adds a finding, once for all shards. After MaxFindings it only counts the finding.
func (r *Report) add(f Finding) {
	f.Expected, f.Got = figures.Clipped(f.Expected, longest), figures.Clipped(f.Got, longest)
	switch {
	case slices.Contains(r.Findings, f):
	case len(r.Findings) >= MaxFindings:
		r.Omitted++
	default:
		r.Findings = append(r.Findings, f)
	}
}

// longest is the most bytes of a value in a finding.
const longest = 1000

func (r *Report) missing(path string) {
	r.add(Finding{File: path, What: "file", Expected: "one", Got: "none"})
}

func (r *Report) unexpected(path string) {
	r.add(Finding{File: path, What: "file", Expected: "none", Got: "one"})
}

// compareInputs adds the differences between two lists of inputs, and reports whether there are none. Files that were not read to
// their ends are not compared. of begins the names of the files in the findings.
func (r *Report) compareInputs(of string, want, got []account.Input) (same bool) {
	if len(want) != len(got) {
		r.add(Finding{File: strings.TrimSuffix(of, ": "), What: "input files", Expected: names(want), Got: names(got)})
		return false
	}
	same = true
	for i, want := range want {
		if got := got[i]; want.Whole && got.Whole && (want.Bytes != got.Bytes || want.SHA256 != got.SHA256) {
			r.add(Finding{File: of + got.Name, What: "input", Expected: digest(want), Got: digest(got)})
			same = false
		}
	}
	return same
}

func digest(in account.Input) string {
	return fmt.Sprintf("%d bytes with the sha256 %s", in.Bytes, in.SHA256)
}

func names(inputs []account.Input) string {
	var list []string
	for _, in := range inputs {
		list = append(list, in.Name)
	}
	return fmt.Sprintf("%d: %s", len(list), strings.Join(list, ", "))
}

// expect adds a finding unless the two are equal.
func expect[T comparable](r *Report, file, what string, expected, got T) {
	if expected != got {
		r.add(Finding{File: file, What: what, Expected: show(expected), Got: show(got)})
	}
}

// show quotes strings, so that spaces and control characters are visible.
func show(v any) string {
	switch text, ok := v.(string); {
	case !ok:
		return fmt.Sprint(v)
	case text == "":
		return "nothing"
	default:
		return strconv.Quote(text)
	}
}

// WriteText writes the findings and the figures as lines of text.
func (r Report) WriteText(out io.Writer) error {
	var b strings.Builder
	for _, finding := range r.Findings {
		fmt.Fprintln(&b, finding)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "and %s more\n", figures.Counted(r.Omitted, "finding"))
	}
	for _, reason := range r.Unchecked {
		fmt.Fprintf(&b, "not checked: %s\n", reason)
	}
	if r.Balanced {
		b.WriteString("balanced\n")
	}
	fmt.Fprintf(&b, "records  %d", r.Records)
	if n := len(r.Classifications); n > 1 {
		fmt.Fprintf(&b, " in %d classifications", n)
	}
	separator := ": "
	for _, s := range writer.Statuses {
		if n := *r.Statuses.WithStatus(s); n > 0 {
			fmt.Fprintf(&b, "%s%d %s", separator, n, s)
			separator = ", "
		}
	}
	fmt.Fprintf(&b, "\nrows     %d\nfiles    %d, %d bytes\ninput    %s compared\nanswers  %d compared, %d not\n",
		r.Rows, r.Files, r.Bytes, figures.Counted(r.Inputs, "record"), r.Answers, r.NotCompared)
	if r.Audit != nil {
		fmt.Fprintf(&b, "free     %s: %s\n", figures.Counted(r.Free, "record"), r.Audit)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
