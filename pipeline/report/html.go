package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/writer"
)

//go:embed report.html
var pageText string

//go:embed style.css
var styleText string

// style is the whole style sheet of the page.
var style = figures.Style + styleText

// policy allows the style of the page, by its hash, and nothing else.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

var page = template.Must(figures.Templates().New("report").Funcs(template.FuncMap{
	"at":             func(i int, c Classification) placed { return placed{c, i} },
	"bars":           bars,
	"basis":          basis,
	"brief":          brief,
	"clock":          clock,
	"complete":       func(e account.Ending) bool { return e == account.Complete },
	"confidence":     confidenceOf,
	"confidenceText": confidenceText,
	"examples":       func(name string, list []Example) named { return named{name, list} },
	"duration":       figures.Duration,
	"first":          func(list []Example) []Example { return list[:min(len(list), shownExamples)] },
	"histogram":      histogram,
	"id":             func(name string, i int) string { return fmt.Sprintf("%s-%d", name, i+1) },
	"last":           last,
	"met":            met,
	"more":           remaining,
	"outcomes":       outcomes,
	"rest":           func(list []Example) []Example { return list[min(len(list), shownExamples):] },
	"settings":       settings,
	"short":          figures.Short,
	"stack":          stack,
	"thousandths":    thousandths,
	"took":           took,
	"treemap":        newTreemap,
}).Parse(pageText))

// shownExamples are shown at once; the others open.
const shownExamples = 6

// placed is a classification and its index.
type placed struct {
	Classification
	I int
}

type named struct {
	Name string
	List []Example
}

// view is what the page shows beside the report.
type view struct {
	Report
	Title, Headline string
	Policy          string
	Style           template.CSS
	Sections        []section
	Course          *course
	Failures        []failure
}

type section struct{ ID, Name string }

// WriteHTML writes the report as one file that loads nothing else.
func (r Report) WriteHTML(out io.Writer) error {
	v := view{
		Report: r, Title: r.title(), Headline: r.headline(), Policy: policy, Style: template.CSS(style),
		Course: r.course(), Failures: r.failures(),
	}
	if r.Summary == nil {
		v.Sections = append(v.Sections, section{"rows", "Rows"})
	} else {
		for i, c := range r.Summary.Classifications {
			v.Sections = append(v.Sections, section{fmt.Sprintf("classification-%d", i+1), c.Name})
		}
	}
	v.Sections = append(v.Sections, section{"look", "Worth a look"}, section{"cost", "Cost"}, section{"run", "Run"})
	return page.Execute(out, v)
}

// title names the output and, if it is known, the service.
func (r Report) title() string {
	service := ""
	if r.Run != nil {
		service = figures.Short(r.Run.Service)
	}
	return "Report on " + figures.Title(figures.Short(r.Output), service)
}

// headline says in a sentence what the report is about.
func (r Report) headline() string {
	text := "The run is unknown: there is no account beside the output."
	if r.Run != nil {
		text = fmt.Sprintf("The run of %s ended %s: %s.", r.Run.Settings.Kind+"s", clock(r.Run.Ended), r.Run.Ending)
		if r.Run.Ending != account.Complete && r.Summary != nil {
			text += " It has not published the rows below: an earlier run has."
		}
	}
	if r.Summary != nil {
		text += fmt.Sprintf(" The output has %s records in %s rows.", figures.Count(r.Summary.Records), figures.Count(r.Summary.Rows))
	}
	return text
}

// failure is a class of records without an answer.
type failure struct {
	Status, Class, Reason, Example string
	Records                        int64
}

// failures come from the account or, without one, from the rows.
func (r Report) failures() (list []failure) {
	if r.Run != nil {
		for _, reason := range r.Run.Counts.Reasons {
			example := reason.Example
			if reason.File != "" {
				example = strings.TrimSuffix(fmt.Sprintf("%s:%d: %s", reason.File, reason.Line, example), ": ")
			}
			list = append(list, failure{string(reason.Status), reason.Class, reason.Text, example, reason.Records})
		}
		return list
	}
	if r.Summary == nil {
		return nil
	}
	for _, c := range r.Summary.Classifications {
		for _, coverage := range c.Coverage {
			for _, reason := range coverage.Reasons {
				list = append(list, failure{string(coverage.Status), "unknown", reason.Text, fmt.Sprintf("record %d: %s", reason.Example.Record, reason.Example.Error), reason.Records})
			}
		}
	}
	return list
}

// course is the time line as a chart, without the time between two starts, and its changes of state.
type course struct {
	Chart   figures.Chart
	Changes []account.Span
}

// course is nil without a time line.
func (r Report) course() *course {
	var total time.Duration
	counts, waited := account.Attempts{}, make(map[account.State]time.Duration)
	for _, s := range r.Timeline {
		d := s.To.Sub(s.From)
		total += d
		waited[s.State] += d
		for name, n := range s.Outcomes {
			counts[name] += n
		}
	}
	if total <= 0 {
		return nil
	}
	if r.Run != nil {
		counts = r.Run.Cost.Outcomes // of all starts, also if the journal is shorter
	}
	c := &course{figures.Chart{Title: "Requests", Unit: "a second, by outcome", Suffix: "/s", Ticks: figures.ElapsedTicks(total), Columns: []string{"total", "share"}}, changes(r.Timeline)}
	x, requests := 0.0, int64(0)
	for _, n := range counts {
		requests += n
	}
	for i, s := range r.Timeline {
		if i > 0 && s.Start != r.Timeline[i-1].Start {
			c.Chart.Marks = append(c.Chart.Marks, x)
		}
		from := x
		x += s.To.Sub(s.From).Seconds() / total.Seconds()
		c.Chart.X = append(c.Chart.X, from, x)
		if slices.Contains(account.Waits, s.State) {
			c.Chart.Bands = figures.AppendBand(c.Chart.Bands, figures.Band{Class: string(s.State), From: from, To: x, Share: 1})
		}
	}
	c.Chart.Key = figures.KeyOfWaits(waited)
	line := func(name, class string, n func(account.Span) int64, cells ...string) {
		l := figures.Line{Name: name, Class: class, Area: true, Cells: cells}
		for _, s := range r.Timeline {
			l.Values = append(l.Values, perSecond(n(s), s), perSecond(n(s), s))
		}
		c.Chart.Lines = append(c.Chart.Lines, l)
	}
	names := slices.Collect(maps.Keys(counts))
	figures.SortOutcomes(names, counts)
	for _, name := range names {
		line(name, figures.OutcomeClass(name), func(s account.Span) int64 { return s.Outcomes[name] }, figures.Count(counts[name]), figures.Percent(figures.Share(counts[name], requests)))
	}
	if len(names) == 0 { // all answers were stored
		c.Chart.Title, c.Chart.Unit, c.Chart.Columns = "Records", "a second, from stored answers", nil
		line("records", "s0", func(s account.Span) int64 { return s.Records })
	}
	return c
}

// changes joins spans of the same state.
func changes(spans []account.Span) (list []account.Span) {
	for _, s := range spans {
		n := len(list)
		if n == 0 || list[n-1].Start != s.Start || list[n-1].State != s.State || list[n-1].Ending != "" {
			outcomes := account.Attempts{}
			maps.Copy(outcomes, s.Outcomes)
			s.Outcomes = outcomes
			list = append(list, s)
			continue
		}
		list[n-1].Join(s)
	}
	return list
}

func perSecond(n int64, s account.Span) float64 {
	if seconds := s.To.Sub(s.From).Seconds(); seconds > 0.05 { // of shorter spans the rate means nothing
		return float64(n) / seconds
	}
	return 0
}

// histogram is the distribution as a chart with steps; nil without confidences.
func histogram(d Distribution) *figures.Chart {
	if slices.Max(d.Bins[:]) == 0 {
		return nil
	}
	c := &figures.Chart{Title: "Records", Unit: "by their highest confidence"}
	line := figures.Line{Name: confidenceText(d), Class: "s0", Area: true}
	for i, n := range d.Bins {
		from := float64(i) / confidenceBins
		c.X = append(c.X, from, from, from+0.9/confidenceBins, from+0.9/confidenceBins)
		line.Values = append(line.Values, 0, float64(n), float64(n), 0)
	}
	for i := range 5 {
		c.Ticks = append(c.Ticks, figures.Tick{At: float64(i) / 4, Text: fmt.Sprint(float64(i) / 4)})
	}
	c.Lines = []figures.Line{line}
	return c
}

// bin is a count with its name and share.
type bin struct {
	Name  string
	N     int64
	Share float64
}

// Table lists the bins.
func (d Distribution) Table() (list []bin) {
	total := int64(0)
	for _, n := range d.Bins {
		total += n
	}
	for i, n := range d.Bins {
		list = append(list, bin{fmt.Sprintf("%.2f to %.2f", float64(i)/confidenceBins, float64(i+1)/confidenceBins), n, figures.Share(n, total)})
	}
	return list
}

// Answered is the share of the records with a category.
func (c Classification) Answered() float64 {
	for _, coverage := range c.Coverage {
		if coverage.Status == writer.StatusOK {
			return coverage.Share
		}
	}
	return 0
}

// part is a status in the bar of the coverage, in hundredths.
type part struct {
	Coverage
	X, Width float64
}

func stack(list []Coverage) (parts []part) {
	x := 0.0
	for _, c := range list {
		parts = append(parts, part{c, 100 * x, 100 * c.Share})
		x += c.Share
	}
	return parts
}

func confidenceText(d Distribution) string {
	if d.Mean == nil {
		return "No record has a confidence."
	}
	text := fmt.Sprintf("The highest confidence of each record; the mean is %.3f.", *d.Mean)
	if d.Outside+d.Missing > 0 {
		text += fmt.Sprintf(" %s records have a confidence outside 0 to 1, %s have none.", figures.Count(d.Outside), figures.Count(d.Missing))
	}
	return text
}

// bars are the counts with their shares, the largest first.
func bars(a account.Attempts) (list []bin) {
	total := int64(0)
	for name, n := range a {
		list, total = append(list, bin{Name: name, N: n}), total+n
	}
	for i := range list {
		list[i].Share = figures.Share(list[i].N, total)
	}
	slices.SortFunc(list, func(a, b bin) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return list
}

func outcomes(a account.Attempts) string {
	var list []string
	for _, b := range bars(a) {
		list = append(list, figures.Count(b.N)+" "+b.Name)
	}
	return strings.Join(list, ", ")
}
