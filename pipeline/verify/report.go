package verify

import (
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/writer"
)

// Report is the result of [Run].
type Report struct {
	Balanced bool `json:"balanced"`
	Figures
	Findings []Finding `json:"findings"` // the first MaxFindings
	Omitted  int64     `json:"omitted"`  // number of further findings
}

// MaxFindings is how many findings a report lists. A fault mostly repeats itself in all records.
const MaxFindings = 20

// Figures count the output, and how much of it was compared with the input and the store.
type Figures struct {
	Records  int64                   `json:"records"`
	Statuses map[writer.Status]int64 `json:"statuses"` // records by status, in each classification
	Rows     int64                   `json:"rows"`
	Files    int                     `json:"files"`
	Bytes    int64                   `json:"bytes"`

	Inputs    int64 `json:"inputs_compared"`  // records that were compared with the input
	Stored    int64 `json:"answers_compared"` // answers that were compared with the store
	NotStored int64 `json:"answers_not_stored"`

	Classifications []string `json:"classifications"` // that every record has
}

// Finding is a difference between the output and the expectation.
type Finding struct {
	File     string `json:"file,omitempty"`
	Record   int64  `json:"record,omitempty"` // 0 if the finding is not about a record
	What     string `json:"what"`             // a column, or a property of the file or run
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// String gives a text such as "out.csv: record 12: rank: expected 2, got 3".
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

// add keeps a finding, or counts it.
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

// longest is how many bytes of a value a finding shows.
const longest = 200

// show quotes texts, so that spaces and control characters are visible.
func show(v any) string {
	text, ok := v.(string)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case text == "":
		return "nothing"
	case len(text) > longest:
		return fmt.Sprintf("%.*q...", longest, text)
	}
	return fmt.Sprintf("%q", text)
}
