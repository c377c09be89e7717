package report

import (
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
)

//go:embed report.html
var pageText string

//go:embed style.css
var styleText string

// style is the whole style sheet of the page.
var style = figures.Style + styleText

// policy allows the style of the page, by its hash, and nothing else.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// words are the functions of the templates for HTML and Markdown.
var words = template.FuncMap{
	"basis": basis, "changes": changes, "confidence": confidenceOf, "confidenceText": confidenceText, "escape": escape, "histogram": histogram,
	"lower": strings.ToLower, "models": models, "thousandths": thousandths, "treemap": newTreemap,
	"policy": policy, "style": func() template.CSS { return template.CSS(style) },
	"title": Report.title, "headline": Report.headline, "course": Report.course, "failures": Report.failures,
}

var page = template.Must(figures.Templates().New("report").Funcs(words).Parse(pageText))

// WriteHTML writes the report as one file that loads nothing else.
func (r Report) WriteHTML(out io.Writer) error { return page.Execute(out, r) }

// title names the output and, if it is known, the service.
func (r Report) title() string {
	service := ""
	if r.Run != nil {
		service = figures.Short(r.Run.Service)
	}
	return "Report on " + figures.Title(figures.Short(r.Output), service)
}

// headline describes the run and its output in sentences.
func (r Report) headline() string {
	text := "The run is unknown: there is no account beside the output."
	if r.Run != nil {
		text = fmt.Sprintf("The run of %s ended %s: %s.", r.Run.Settings.Kind+"s", r.Run.Ended.UTC().Format("2006-01-02 15:04:05 UTC"), r.Run.Outcome())
		switch {
		case r.Later != nil:
			text += fmt.Sprintf(" A later start, which ended %s (%s), has left the rows as they were.", r.Later.Ended.UTC().Format("2006-01-02 15:04:05 UTC"), r.Later.Ending)
		case r.Run.Ending != account.Complete && r.Summary != nil:
			text += " It has not completed the rows below."
		}
	}
	if r.Summary != nil {
		text += fmt.Sprintf(" The output has %s records in %s rows.", figures.Count(r.Summary.Records), figures.Count(r.Summary.Rows))
	}
	return text
}

// failures returns the classes of records without an answer, from the account or, without an account, from the rows.
func (r Report) failures() (list []account.Reason) {
	if r.Run != nil {
		for _, reason := range r.Run.Counts.Reasons {
			if reason.File != "" {
				reason.Example = strings.TrimSuffix(fmt.Sprintf("%s:%d: %s", reason.File, reason.Line, reason.Example), ": ")
			}
			list = append(list, reason)
		}
		return list
	}
	if r.Summary == nil {
		return nil
	}
	for _, c := range r.Summary.Classifications {
		for _, coverage := range c.Coverage {
			for _, reason := range coverage.Reasons {
				example := fmt.Sprintf("record %d: %s", reason.Example.Record, reason.Example.Error)
				list = append(list, account.Reason{Status: coverage.Status, Class: "unknown", Text: reason.Text, Example: example, Records: reason.Records})
			}
		}
	}
	return list
}

// course returns the time line as a chart, without the time between two starts; nil without a time line.
func (r Report) course() *figures.Chart {
	var list []figures.Interval
	var total time.Duration
	requests, records := account.Attempts{}, int64(0)
	for _, s := range r.Timeline {
		d := s.To.Sub(s.From)
		list = append(list, figures.Interval{Time: d, Counts: s.Outcomes, Waited: map[account.State]time.Duration{s.State: d}})
		total += d
		records += s.Records
		requests.Add(s.Outcomes)
	}
	if total <= 0 {
		return nil
	}
	if r.Run != nil {
		requests = r.Run.Cost.Outcomes // includes starts that the time line lacks
	}
	stored := len(requests) == 0 // all answers are stored answers
	if stored {
		requests = account.Attempts{"records": records}
		for i, s := range r.Timeline {
			list[i].Counts = account.Attempts{"records": s.Records}
		}
	}
	c := figures.Requests(list, requests)
	c.Ticks = figures.ElapsedTicks(total)
	for i := 1; i < len(r.Timeline); i++ {
		if r.Timeline[i].Start != r.Timeline[i-1].Start {
			c.Marks = append(c.Marks, c.X[i])
		}
	}
	if stored {
		c.Title, c.Unit, c.Columns, c.Lines[0].Class, c.Lines[0].Cells = "Records", "a second, from stored answers", nil, "s0", nil
	}
	return &c
}

// changes joins spans of the same state.
func changes(spans []account.Span) (list []account.Span) {
	for _, s := range spans {
		n := len(list)
		if n == 0 || list[n-1].Start != s.Start || list[n-1].State != s.State || list[n-1].Ending != "" {
			s.Outcomes = maps.Clone(s.Outcomes)
			list = append(list, s)
			continue
		}
		list[n-1].Join(s)
	}
	return list
}

// histogram returns a distribution as a chart; nil without confidences.
func histogram(d Distribution) *figures.Chart {
	if figures.Sum(slices.Values(d.Bins)) == 0 {
		return nil
	}
	c := &figures.Chart{Title: "Records", Unit: "by their highest confidence"}
	line := figures.Line{Name: confidenceText(d), Class: "s0", Area: true}
	for i, n := range d.Bins {
		from := float64(i) / confidenceBins
		c.X = append(c.X, from, from+0.9/confidenceBins)
		line.Values = append(line.Values, float64(n), 0)
	}
	for i := range 5 {
		c.Ticks = append(c.Ticks, figures.Tick{At: float64(i) / 4, Text: fmt.Sprint(float64(i) / 4)})
	}
	c.X, c.Lines = append(c.X, 1), []figures.Line{line}
	return c
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
