package verify

import (
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/cascade"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/writer"
)

// Report is the result of a verification.
type Report struct {
	Balanced bool `json:"balanced"`
	Figures
	Findings []Finding `json:"findings"` // the first MaxFindings
	Omitted  int64     `json:"omitted"`  // the number of further findings

	Locked []string `json:"-"` // stores that runs hold, so that their answers were not compared: see Output
}

// MaxFindings is the most findings in a report: most faults affect all records.
const MaxFindings = 20

// Figures are counts of the output, and of the records that were compared with the input and the
// store.
type Figures struct {
	Records  int64                   `json:"records"`
	Statuses map[writer.Status]int64 `json:"statuses"` // records by status, in each classification
	Rows     int64                   `json:"rows"`
	Files    int                     `json:"files"`
	Bytes    int64                   `json:"bytes"`

	Inputs    int64 `json:"inputs_compared"`  // records that were compared with the input
	Stored    int64 `json:"answers_compared"` // answers that were compared with the store
	NotStored int64 `json:"answers_not_stored"`

	Free  int64          `json:"free,omitempty"`  // records that a model has answered for nothing, in each classification
	Audit *cascade.Audit `json:"audit,omitempty"` // of these; nil if no model has answered

	Classifications []string `json:"classifications"` // of every record
}

// Finding is one difference from an expected value.
type Finding struct {
	File     string `json:"file,omitempty"`
	Record   int64  `json:"record,omitempty"` // 0 if the finding is not about a record
	What     string `json:"what"`             // a column, or a property of the file or run
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// String returns, for example, "out.csv: record 12: rank: expected 2, got 3".
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ": ")
	}
	if f.Record != 0 {
		fmt.Fprintf(&b, "record %d: ", f.Record)
	}
	fmt.Fprintf(&b, "%s: expected %s, got %s", f.What, f.Expected, f.Got)
	return b.String()
}

// add adds a finding, or only counts it after MaxFindings.
func (r *Report) add(f Finding) {
	if len(r.Findings) >= MaxFindings {
		r.Omitted++
		return
	}
	r.Findings = append(r.Findings, f)
}

// expect adds a finding unless the two are equal.
func expect[T comparable](r *Report, where Finding, what string, expected, got T) {
	if expected == got {
		return
	}
	where.What, where.Expected, where.Got = what, show(expected), show(got)
	r.add(where)
}

// longest is the most bytes of a value in a finding.
const longest = 200

// show quotes strings, so that spaces and control characters are visible.
func show(v any) string {
	text, ok := v.(string)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case text == "":
		return "nothing"
	case text == outputs.EmptyText:
		return "empty text"
	case len(text) > longest:
		return fmt.Sprintf("%.*q...", longest, text)
	}
	return fmt.Sprintf("%q", text)
}
