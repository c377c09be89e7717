package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/record"
)

//go:embed report.html
var pageText string

//go:embed style.css
var styleText string

// policy allows the style of the page, by its hash, and nothing else.
var policy = func() string {
	sum := sha256.Sum256([]byte(styleText))
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"at":             func(i int, c Classification) placed { return placed{c, i} },
	"bars":           bars,
	"clock":          clock,
	"complete":       func(e record.Ending) bool { return e == record.Complete },
	"confidence":     confidenceOf,
	"confidenceText": confidenceText,
	"count":          count,
	"examples":       func(name string, list []Example) named { return named{name, list} },
	"histogram":      histogram,
	"hundred":        func(share float64) string { return fmt.Sprintf("%.2f", 100*share) },
	"id":             func(name string, i int) string { return fmt.Sprintf("%s-%d", name, i+1) },
	"last":           last,
	"met":            met,
	"more":           remaining,
	"outcomes":       outcomes,
	"percent":        percent,
	"settings":       settings,
	"short":          short,
	"took":           func(r *Run) string { return took(r) },
}).Parse(pageText))

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
	Chart           *chart
	Failures        []failure
}

type section struct{ ID, Name string }

// WriteHTML writes the report as one file that loads nothing else.
func (r Report) WriteHTML(out io.Writer) error {
	v := view{
		Report: r, Title: "Report on " + short(r.Output), Headline: r.headline(), Policy: policy, Style: template.CSS(styleText),
		Sections: []section{{"run", "Run"}, {"timeline", "Time line"}, {"cost", "Cost"}},
		Chart:    newChart(r.Timeline), Failures: r.failures(),
	}
	if r.Summary == nil {
		v.Sections = append(v.Sections, section{"rows", "Rows"})
	} else {
		for i, c := range r.Summary.Classifications {
			v.Sections = append(v.Sections, section{fmt.Sprintf("classification-%d", i+1), c.Name})
		}
	}
	v.Sections = append(v.Sections, section{"failures", "Failures"})
	return page.Execute(out, v)
}

// headline says in a sentence what the report is about.
func (r Report) headline() string {
	text := "The run is unknown: there is no account beside the output."
	if r.Run != nil {
		text = fmt.Sprintf("The run of %s ended %s: %s.", r.Run.Settings.Kind+"s", clock(r.Run.Ended), r.Run.Ending)
		if r.Run.Ending != record.Complete && r.Summary != nil {
			text += " It has not published the rows below: an earlier run has."
		}
	}
	if r.Summary != nil {
		text += fmt.Sprintf(" The output has %s records in %s rows.", count(r.Summary.Records), count(r.Summary.Rows))
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

// chart is the time line as bars of requests or records a second, without the time between two starts.
type chart struct {
	Text     string
	Bars     []rect
	Lines    []string // between starts
	From, To string
	Changes  []Span
}

// rect is a bar in a chart of 1000 x 100.
type rect struct {
	X, Y, Width, Height, Class string
	Text, Name                 string
	N                          int64
}

func newRect(x, width, height float64) rect {
	if height > 0 {
		height = max(height, 1) // visible
	}
	f := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	return rect{X: f(x), Y: f(100 - height), Width: f(width), Height: f(height)}
}

func newChart(spans []Span) *chart {
	var total time.Duration
	var requests int64
	for _, s := range spans {
		total, requests = total+s.To.Sub(s.From), requests+s.Requests
	}
	if total <= 0 {
		return nil
	}
	rate, what := func(s Span) float64 { return perSecond(s.Requests, s) }, "requests"
	if requests == 0 { // all answers were stored
		rate, what = func(s Span) float64 { return perSecond(s.Records, s) }, "records"
	}
	most := 0.0
	for _, s := range spans {
		most = max(most, rate(s))
	}
	c := &chart{From: clock(spans[0].From), To: clock(spans[len(spans)-1].To)}
	x := 0.0
	for i, s := range spans {
		if i > 0 && s.Start != spans[i-1].Start {
			c.Lines = append(c.Lines, fmt.Sprintf("%.2f", x))
		}
		width, height := 1000*s.To.Sub(s.From).Seconds()/total.Seconds(), 0.0
		if most > 0 {
			height = 100 * rate(s) / most
		}
		class := ""
		switch s.State {
		case record.Outage:
			class, height = "out", max(height, 4)
		case record.QuotaPause, record.Congested, record.Limited:
			class, height = "waiting", max(height, 4)
		}
		bar := newRect(x, width, height)
		bar.Class, bar.Text = class, fmt.Sprintf("%s, %s: %.1f %s/s", clock(s.From), s.State, rate(s), what)
		c.Bars, x = append(c.Bars, bar), x+width
		if n := len(c.Changes); n > 0 && c.Changes[n-1].Start == s.Start && c.Changes[n-1].State == s.State && c.Changes[n-1].Ending == "" {
			joined := c.Changes[n-1]
			joined.Outcomes = record.Attempts{}
			joined.join(Span{From: s.From, To: s.To, State: s.State, Ending: s.Ending, Records: s.Records, Requests: s.Requests, Outcomes: s.Outcomes})
			for class, n := range c.Changes[n-1].Outcomes {
				joined.Outcomes[class] += n
			}
			c.Changes[n-1] = joined
			continue
		}
		c.Changes = append(c.Changes, s)
	}
	c.Text = fmt.Sprintf("%s a second over %s of work, at most %.1f. Waiting and outages have other colours; a dashed line is a new start.", what, rounded(total), most)
	c.Text = strings.ToUpper(c.Text[:1]) + c.Text[1:]
	return c
}

func perSecond(n int64, s Span) float64 {
	if seconds := s.To.Sub(s.From).Seconds(); seconds > 0.05 { // of shorter spans the rate means nothing
		return float64(n) / seconds
	}
	return 0
}

// histogram is the distribution as bars.
func histogram(d Distribution) (list []rect) {
	most := slices.Max(d.Bins[:])
	if most == 0 {
		return nil
	}
	for i, n := range d.Bins {
		bar := newRect(float64(i)*1000/confidenceBins+2, 1000/confidenceBins-4, 100*float64(n)/float64(most))
		bar.N, bar.Name = n, fmt.Sprintf("%.2f to %.2f", float64(i)/confidenceBins, float64(i+1)/confidenceBins)
		bar.Text = bar.Name + ": " + count(n)
		list = append(list, bar)
	}
	return list
}

func confidenceText(d Distribution) string {
	if d.Mean == nil {
		return "No record has a confidence."
	}
	text := fmt.Sprintf("The confidence of the first category of each record; the mean is %.3f.", *d.Mean)
	if d.Outside+d.Missing > 0 {
		text += fmt.Sprintf(" %s records have a confidence outside 0 to 1, %s have none.", count(d.Outside), count(d.Missing))
	}
	return text
}

// bar is a count and its share.
type bar struct {
	Name  string
	N     int64
	Share float64
}

func bars(a record.Attempts) (list []bar) {
	total := int64(0)
	for name, n := range a {
		list, total = append(list, bar{Name: name, N: n}), total+n
	}
	for i := range list {
		list[i].Share = share(list[i].N, total)
	}
	slices.SortFunc(list, func(a, b bar) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return list
}

func outcomes(a record.Attempts) string {
	var list []string
	for _, b := range bars(a) {
		list = append(list, count(b.N)+" "+b.Name)
	}
	return strings.Join(list, ", ")
}
