// Package expect checks conditions of an output, such as "ok >= 95%".
package expect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer"
)

// Expectation is a condition on a figure of an output.
type Expectation struct {
	Figure string // one of Figures
	Op     string // >=, <=, >, < or ==
	Bound  float64
	Share  bool // Bound is a percentage: of the records, or of 1 for confidence.mean
}

// figure is a property of an output.
type figure struct {
	name, text string
	statuses   []writer.Status        // of the records that it counts, or else
	of         func(f *figures) value // its value
	earlier    bool                   // compares with an earlier output
}

// all are the figures. A record counts once per classification.
var all = []figure{
	{name: "records", text: "records of the output", of: func(f *figures) value { return count(f.records) }},
	{name: "rows", text: "rows of the output", of: func(f *figures) value { return count(f.rows) }},
	{name: "ok", text: "records with a category", statuses: []writer.Status{writer.StatusOK}},
	{name: "empty", text: "records for which no category fits", statuses: []writer.Status{writer.StatusEmpty}},
	{name: "rejected", text: "records that the service refuses", statuses: []writer.Status{writer.StatusRejected}},
	{name: "failed", text: "records whose attempts have failed", statuses: []writer.Status{writer.StatusFailed}},
	{name: "invalid", text: "records that cannot be asked", statuses: []writer.Status{writer.StatusInvalid}},
	{name: "blank", text: "records without an input", statuses: []writer.Status{writer.StatusBlank}},
	{name: "pending", text: "records that are not asked yet", statuses: []writer.Status{writer.StatusPending}},
	{name: "unanswered", text: "rejected, failed, invalid or pending records",
		statuses: []writer.Status{writer.StatusRejected, writer.StatusFailed, writer.StatusInvalid, writer.StatusPending}},
	{name: "categories", text: "distinct categories of all ranks", of: func(f *figures) value { return count(f.categories) }},
	{name: "confidence.mean", text: "mean confidence of the first categories", of: func(f *figures) value { return f.confidence }},
	{name: "changed", text: "inputs of both outputs with another status or first category than in the earlier output", of: (*figures).changed, earlier: true},
	{name: "new_categories", text: "first categories that the earlier output does not have", of: (*figures).newCategories, earlier: true},
}

// Figures returns the name and the description of each figure.
func Figures() (list [][2]string) {
	for _, f := range all {
		list = append(list, [2]string{f.name, f.text})
	}
	return list
}

func figureOf(name string) *figure {
	i := slices.IndexFunc(all, func(f figure) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

var form = regexp.MustCompile(`^\s*([a-z_.]+)\s*(>=|<=|==|=|>|<)\s*([0-9]*\.?[0-9]+)\s*(%?)\s*$`)

// Parse parses an expectation, such as "ok >= 95%", "records >= 10000" or "confidence.mean >= 0.6".
func Parse(text string) (Expectation, error) {
	parts := form.FindStringSubmatch(text)
	if parts == nil {
		return Expectation{}, fmt.Errorf("%q is no expectation: write a figure, a comparison and a number, such as ok >= 95%% or records >= 10000", text)
	}
	f := figureOf(parts[1])
	if f == nil {
		var names []string
		for _, f := range all {
			names = append(names, f.name)
		}
		return Expectation{}, fmt.Errorf("%q: there is no figure %s; there are %s", text, parts[1], strings.Join(names, ", "))
	}
	e := Expectation{Figure: f.name, Op: parts[2], Share: parts[4] != ""}
	if e.Op == "=" {
		e.Op = "=="
	}
	var err error
	if e.Bound, err = strconv.ParseFloat(parts[3], 64); err != nil {
		return Expectation{}, fmt.Errorf("%q: %s is no number", text, parts[3])
	}
	return e, e.check(text)
}

// check rejects a percentage above 100, a percentage of a figure that has no share, and a confidence above 1.
func (e Expectation) check(text string) error {
	isShare := !slices.Contains([]string{"records", "rows", "categories", "new_categories"}, e.Figure)
	switch {
	case e.Share && !isShare:
		return fmt.Errorf("%q: %s is a number, and has no percentage", text, e.Figure)
	case e.Share && e.Bound > 100:
		return fmt.Errorf("%q: a share is 100%% at most", text)
	case e.Figure == "confidence.mean" && !e.Share && e.Bound > 1:
		return fmt.Errorf("%q: a confidence is 1 at most", text)
	}
	return nil
}

// String formats the expectation for Parse.
func (e Expectation) String() string {
	text := e.Figure + " " + e.Op + " " + strconv.FormatFloat(e.Bound, 'f', -1, 64)
	if e.Share {
		text += "%"
	}
	return text
}

// Compares reports whether the expectation compares with an earlier output.
func (e Expectation) Compares() bool { return figureOf(e.Figure).earlier }

// ops are the comparisons with a bound.
var ops = map[string]func(n, bound float64) bool{
	">=": func(n, bound float64) bool { return n >= bound },
	"<=": func(n, bound float64) bool { return n <= bound },
	">":  func(n, bound float64) bool { return n > bound },
	"<":  func(n, bound float64) bool { return n < bound },
	"==": func(n, bound float64) bool { return n == bound },
}

// met reports whether n meets the expectation.
func (e Expectation) met(n float64) bool { return ops[e.Op](n, e.Bound) }

// value is the value of a figure: a number, or a number of records out of all records.
type value struct {
	number float64
	of     float64 // all records; 0 for a plain number
	known  bool
}

func count(n int64) value { return value{number: float64(n), known: true} }

// part returns n out of a number of records. It is unknown if that number is 0.
func part(n, of int64) value { return value{float64(n), float64(of), of > 0} }

// result compares a value with the expectation. An unknown value, such as a share of no records, does not meet it.
func (e Expectation) result(v value) account.Expected {
	r := account.Expected{Expectation: e.String(), Value: "unknown"}
	if !v.known {
		return r
	}
	n := v.number
	r.Value = strconv.FormatFloat(n, 'f', -1, 64)
	switch {
	case e.Share && v.of > 0:
		n = 100 * n / v.of
		r.Value = fmt.Sprintf("%.4g%% (%.0f of %.0f)", n, v.number, v.of)
	case e.Share:
		n *= 100
		r.Value = fmt.Sprintf("%.4g%%", n)
	case e.Figure == "confidence.mean":
		r.Value = strconv.FormatFloat(n, 'f', 4, 64)
	}
	r.Met = e.met(n)
	return r
}

// BrokenError says that an output does not meet its expectations.
type BrokenError struct {
	Results []account.Expected // all expectations, in order
	Held    bool               // the output was not published
	Early   bool               // the run stopped early; Results has only those that will not be met
}

func (e *BrokenError) Error() string {
	var broken []string
	for _, r := range e.Results {
		if !r.Met {
			broken = append(broken, r.Expectation+" is "+r.Value)
		}
	}
	if e.Early {
		return "it is clear that an expectation will not be met: " + strings.Join(broken, "; ")
	}
	text := fmt.Sprintf("%d of %d expectations are not met: %s", len(broken), len(e.Results), strings.Join(broken, "; "))
	if e.Held {
		text += ": the output was held back, and the answers are stored"
	}
	return text
}

// ErrStream says that the output is a stream and cannot be checked.
var ErrStream = errors.New("an output on standard output cannot be read back: name a file with -o")
