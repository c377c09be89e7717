package writer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bulkcat/bulkcat/writer/form"
)

// Status is the outcome of a record.
type Status = form.Status

// The statuses of records.
const (
	StatusOK       Status = "ok"       // answered, with at least one entry
	StatusEmpty    Status = "empty"    // answered, but without an entry that Schema.Keeps accepts
	StatusRejected Status = "rejected" // the service refuses this input for good
	StatusFailed   Status = "failed"   // all attempts failed
	StatusInvalid  Status = "invalid"  // not asked: the input is not a website or a title
	StatusBlank    Status = "blank"    // not asked: the record has no input
	StatusPending  Status = "pending"  // not asked yet; only in the output of a run that stopped early
)

// Statuses are all statuses in the order of reports.
var Statuses = []Status{StatusOK, StatusEmpty, StatusRejected, StatusFailed, StatusInvalid, StatusBlank, StatusPending}

// HasInput reports whether records with the status have a valid input.
func HasInput(s Status) bool { return s != StatusInvalid && s != StatusBlank }

// Entry is one category of an answer.
type Entry struct {
	Value      string  // a path of levels joined by " > ", or a code
	ID         string  // the category's id in its taxonomy; "" if unknown
	Local      string  // the path in Form.Language; "" if unknown
	Title      string  // of the code; "" for a path
	Confidence float64 // as the service gave it, usually 0 to 1; null if not finite

	// Levels is the result of Schema.AppendLevels for Value. If it is nil, Flatten computes it.
	Levels []string
}

// Result is the outcome of one record in one classification. Empty strings and zero times become nulls.
type Result struct {
	Record         int64 // 1-based
	Input          string
	Status         Status
	Classification string
	Entries        []Entry // in the order of the answer
	Error          string  // why there are no entries
	Source         string  // service that has answered
	Basis          string  // what the answer rests on
	AnsweredAt     time.Time
	Fields         []string // carried columns of the record, parallel to Schema.Carry; missing fields are null
	Nulls          []bool   // which of Fields are null; if it is nil, empty fields are null
}

// Row is one row of the output.
type Row struct {
	Record         int64
	Input          string
	Status         Status
	Classification string
	Rank           int64 // 1-based position in the answer; 0 if the row has no entry
	Value          string
	CategoryID     string
	ValueLocal     string   // only with Form.Language
	Title          string   // only with Schema.Titles, in classifications of Schema.Codes
	Confidence     float64  // NaN stands for null
	Levels         []string // at most Schema.Levels; missing levels are null
	Error          string
	Source         string
	Basis          string
	AnsweredAt     time.Time // UTC, whole microseconds
	Fields         []string  // parallel to Schema.Carry; missing fields are null
	Nulls          []bool    // which of Fields are null; if it is nil, empty fields are null

	// Categories are the rows of ShapeLong, for the list of a row of ShapeNested, which has no entry itself.
	Categories []Row
}

// Form are the options of the user that decide the form of the rows. Accounts have them by their JSON names.
type Form = form.Form

// CheckForm calls refuse for each member of f that cannot be used in format, which is "" if it is unknown.
func CheckForm(f Form, format Format, refuse func(wrong bool, member, message string, args ...any)) {
	refuse(f.Top < 0, "Top", "%d must not be negative", f.Top)
	refuse(!(f.MinConfidence >= 0) || math.IsInf(f.MinConfidence, 0), "MinConfidence", "%v must be a number from 0", f.MinConfidence)
	var err error
	if !slices.Contains([]Shape{"", ShapeLong, ShapeTop, ShapeNested}, f.Shape) {
		err = &ShapeError{Shape: f.Shape}
	} else if format != "" {
		err = format.CheckShape(f.Shape)
	}
	refuse(err != nil, "Shape", "%w", err)
	refuse(f.EscapeFormulas && format != "" && !format.Delimited(), "EscapeFormulas", "%s has no formulas: only CSV and TSV take the option", format)
}

// Flatten appends the rows of r in Schema.Shape to dst, at least one. If MinConfidence removes all entries, it appends a row
// with StatusEmpty and an error. Flatten allocates only to grow dst, to replace invalid UTF-8, and for missing Entry.Levels,
// the lists of ShapeNested and that error. The new rows share the memory of r.
func (s Schema) Flatten(dst []Row, r Result) []Row {
	row := Row{
		Record:         r.Record,
		Input:          validUTF8(r.Input),
		Status:         Status(validUTF8(string(r.Status))),
		Classification: validUTF8(r.Classification),
		Confidence:     math.NaN(),
		Error:          validUTF8(r.Error),
		Source:         validUTF8(r.Source),
		Basis:          validUTF8(r.Basis),
		AnsweredAt:     timestamp(r.AnsweredAt),
		Fields:         validFields(r.Fields),
		Nulls:          r.Nulls,
	}
	switch {
	case len(r.Entries) == 0:
		return append(dst, row)
	case !slices.ContainsFunc(r.Entries, func(e Entry) bool { return s.Keeps(e.Confidence) }):
		row.Status, row.Error = StatusEmpty, fmt.Sprintf("no category has a confidence of %g or more", s.MinConfidence)
		return append(dst, row)
	case s.Shape == ShapeNested:
		n := len(dst)
		dst = append(dst, row)
		dst[n].Categories = s.appendEntries(make([]Row, 0, min(len(r.Entries), s.most())), row, r)
		return dst
	}
	return s.appendEntries(dst, row, r)
}

// appendEntries appends a copy of row for each entry of r that the schema keeps, in the order of the answer.
func (s Schema) appendEntries(dst []Row, row Row, r Result) []Row {
	best := s.best(r.Entries)
	left := s.most()
	for i, e := range r.Entries {
		if !s.Keeps(e.Confidence) || best != nil && !best[i] {
			continue
		}
		row.Rank = int64(i + 1)
		row.Value = validUTF8(e.Value)
		row.CategoryID = validUTF8(e.ID)
		if s.Language != "" {
			row.ValueLocal = validUTF8(e.Local)
		}
		if s.Titles && s.Codes[r.Classification] != nil {
			row.Title = validUTF8(e.Title)
		}
		row.Confidence = finite(e.Confidence)
		if row.Levels = e.Levels; row.Levels == nil || row.Value != e.Value {
			row.Levels = s.AppendLevels(nil, r.Classification, row.Value)
		}
		dst = append(dst, row)
		if left--; left == 0 {
			break
		}
	}
	return dst
}

// AppendLevels appends at most Schema.Levels levels of a category's path or code to levels.
func (s Schema) AppendLevels(levels []string, classification, value string) []string {
	if code := s.Codes[classification]; code != nil {
		return code(levels, value, s.levels())
	}
	n := len(levels) + s.levels()
	for more := value != ""; more && len(levels) < n; {
		var level string
		level, value, more = strings.Cut(value, " > ")
		levels = append(levels, level)
	}
	return levels
}

// at returns list[i], or "" beyond the end.
func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// validUTF8 returns s with each run of invalid bytes replaced by U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// validFields returns fields itself if all are valid UTF-8, else a copy with the results of validUTF8.
func validFields(fields []string) []string {
	if !slices.ContainsFunc(fields, func(f string) bool { return !utf8.ValidString(f) }) {
		return fields
	}
	valid := slices.Clone(fields)
	for i, f := range valid {
		valid[i] = validUTF8(f)
	}
	return valid
}

// finite returns x, or NaN (null) if x is infinite, which JSON cannot represent.
func finite(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

// The years that RFC 3339 can write, 1 to 9999, in Unix time.
const (
	minUnix = -62135596800
	maxUnix = 253402300799
)

// timestamp returns t in UTC and whole microseconds, or the zero time (null) if RFC 3339 cannot represent its year.
func timestamp(t time.Time) time.Time {
	if s := t.Unix(); s < minUnix || s > maxUnix {
		return time.Time{}
	}
	if t.Nanosecond()%1000 != 0 {
		t = t.Truncate(time.Microsecond)
	}
	return t.UTC()
}
