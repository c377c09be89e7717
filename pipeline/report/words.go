package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// brief is a time in tables that say that their times are in UTC.
func brief(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// took is the time of all starts, without the time between them.
func took(r *Run) string {
	var total time.Duration
	for _, s := range r.Starts {
		total += s.Ended.Sub(s.Started)
	}
	return figures.Duration(total)
}

// longest is the most characters of a text of the input or the service in a report.
const longest = 200

// short is text without control and format characters, which could reorder the line, cut to its first characters.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return utf8.RuneError
		}
		return r
	}, text)
	n := 0
	for i := range text {
		if n++; n > longest {
			return text[:i] + "…"
		}
	}
	return text
}

// confidenceOf is "" for an unknown confidence.
func confidenceOf(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', 4, 64)
}

// remaining is the number of elements after the first ones; 0 for none.
func remaining(list any, first int) int {
	switch list := list.(type) {
	case []Category:
		return max(0, len(list)-first)
	case []ErrorGroup:
		return max(0, len(list)-first)
	}
	return 0
}

// mostStarts bounds the table of starts: a scheduler may start a run each minute.
const mostStarts = 50

// last returns the last starts.
func last(list []Start) []Start { return list[max(0, len(list)-mostStarts):] }

// setting is a line of the settings.
type setting struct{ Name, Value string }

func settings(r *Run) []setting {
	s := r.Settings
	list := []setting{
		{"Input", short(strings.Join(s.Inputs, ", "))}, {"Output", short(s.Output)}, {"Kind", s.Kind},
		{"Classification", strings.Join(s.Classifications(), ", ")}, {"Service", short(r.Service)}, {"Format", s.OutputFormat},
	}
	add := func(name string, has bool, value any) {
		if has {
			list = append(list, setting{name, short(fmt.Sprint(value))})
		}
	}
	list = append(list, models(r)...)
	add("Column", len(s.Columns) > 0, strings.Join(s.Columns, ", "))
	add("Shape", s.Shape != "", s.Shape)
	add("Categories of a record", s.Top > 0, s.Top)
	add("Least confidence", s.MinConfidence != 0, s.MinConfidence)
	add("Formulas", s.EscapeFormulas, "escaped")
	add("Placeholders", s.AskPlaceholders, "asked")
	add("Dedupe", s.Dedupe != "", s.Dedupe)
	add("Limit", s.Limit > 0, s.Limit)
	add("Sample", s.Sample > 0, s.Sample)
	add("bulkcat", true, r.Bulkcat)
	return list
}

// met is the result of an expectation in words.
func met(e record.Expected) string {
	if e.Met {
		return "met"
	}
	return "not met"
}

// models says how often the models of a run are right about inputs that they have not seen.
func models(r *Run) (list []setting) {
	for _, m := range r.Models {
		list = append(list, setting{"Model", short(fmt.Sprintf("%s: %s labels of %s categories, cross-validated %s right, %s without the model",
			m.Classification, figures.Count(int64(m.Labels)), figures.Count(int64(m.Categories)), figures.Percent(m.Right), figures.Percent(m.Without)))})
		for _, a := range m.From {
			list = append(list, setting{fmt.Sprintf("Model from confidence %g on", a.Confidence), fmt.Sprintf("%s right, %s of the inputs", figures.Percent(a.Right), figures.Percent(a.Inputs))})
		}
	}
	return list
}
