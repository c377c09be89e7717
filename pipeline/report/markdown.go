package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// WriteJSON writes the report as one line.
func (r Report) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// mostLines bounds the tables of Markdown: it is read in a chat.
const mostLines = 10

// markdown builds a report in Markdown, with tables as GitHub has them.
type markdown struct{ strings.Builder }

// special escapes text, so that it has no markup.
var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`, "~", `\~`, "@", "@\u200b",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "://", ":\u200b//", // no mention and no link
)

func escape(text string) string { return special.Replace(figures.Short(text)) }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// table begins a table. The names of columns of numbers begin with "#".
func (m *markdown) table(names ...string) {
	head, rule := "", ""
	for _, name := range names {
		align := "---|"
		if strings.HasPrefix(name, "#") {
			align = "---:|"
		}
		head, rule = head+" "+strings.TrimPrefix(name, "#")+" |", rule+align
	}
	m.line("\n|%s\n|%s", head, rule)
}

func (m *markdown) row(cells ...string) { m.line("| %s |", strings.Join(cells, " | ")) }

// WriteMarkdown writes the main figures of the report.
func (r Report) WriteMarkdown(out io.Writer) error {
	var m markdown
	m.line(markdownBegin+"%s\n\n%s", escape(r.Output), escape(r.headline()))
	if r.Summary != nil {
		for _, c := range r.Summary.Classifications {
			m.classification(c)
		}
	}
	if failures := r.failures(); len(failures) > 0 {
		m.line("\n## Failures")
		m.table("status", "class", "reason", "#records", "example")
		for _, f := range failures[:min(len(failures), mostLines)] {
			m.row(f.Status, escape(f.Class), escape(f.Reason), figures.Count(f.Records), escape(f.Example))
		}
	}
	if r.Run != nil {
		m.run(r.Run)
	}
	_, err := io.WriteString(out, m.String())
	return err
}

func (m *markdown) run(r *Run) {
	m.line("\n## Run")
	m.table("", "")
	m.row("started", clock(r.Started))
	m.row("ended", clock(r.Ended)+", "+string(r.Ending))
	if r.Error != "" {
		m.row("error", escape(r.Error))
	}
	m.row("time", took(r))
	m.row("service", escape(r.Service))
	for _, s := range models(r) {
		m.row(strings.ToLower(s[0]), escape(s[1]))
	}
	m.row("requests", fmt.Sprintf("%s made, of these %s retries; %s saved",
		figures.Count(r.Cost.Made), figures.Count(r.Cost.Retries), figures.Count(r.Cost.Saved)))
	if rest := basis(r.Counts); rest != "" {
		m.row("answers", "rest on: "+rest)
	}
	if c := r.Cost.Money; c != nil {
		m.row("cost", escape(fmt.Sprintf("%s; saved %s", c.Price.Text(c.Total), c.Price.Text(c.Saved))))
	}
	for _, e := range r.Expectations {
		m.row(met(e), escape(e.Expectation+": "+e.Value))
	}
	if r.Free != nil {
		m.row("free", fmt.Sprintf("%s records answered by the model: %s", figures.Count(r.Counts.Free), r.Free))
	}
	if len(r.Cost.Outcomes) > 0 {
		m.row("outcomes", escape(outcomes(r.Cost.Outcomes)))
	}
}

func (m *markdown) classification(c Classification) {
	m.line("\n## %s", escape(c.Name))
	m.table("status", "#records", "#share", "most frequent reason")
	for _, s := range c.Coverage {
		reason := ""
		if len(s.Reasons) > 0 {
			reason = escape(s.Reasons[0].Text)
		}
		m.row(escape(string(s.Status)), figures.Count(s.Records), figures.Percent(s.Share), reason)
	}
	m.table("category", "#records", "#share", "#confidence")
	for _, k := range c.Categories[:min(len(c.Categories), mostLines)] {
		m.row(escape(strings.TrimSpace(k.Name+" "+k.Title)), figures.Count(k.Records), figures.Percent(k.Share), confidenceOf(k.Confidence))
	}
	m.line("\n%s", escape(confidenceText(c.Confidence)))
	if n := c.Look.Drift.Confidence + c.Look.Drift.Category; n > 0 {
		m.line("\nDrift: %s rows depart from the interface.", figures.Count(n))
	}
}
