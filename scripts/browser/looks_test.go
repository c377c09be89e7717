package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/live"
	"github.com/bulkcat/bulkcat/pipeline/report"
)

// TestPageOfARecordedHour checks the page of a run that is half done.
func TestPageOfARecordedHour(t *testing.T) {
	var now account.Status
	run := live.NewRun(func() account.Status { return now })
	for _, now = range recording() {
		run.Sample()
	}
	server, err := live.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	server.Show(run)
	b := open(t)
	b.inEachLook(t, server.URL(), "page",
		`document.querySelectorAll("#charts path").length >= 4`,
		`document.querySelector("dt").textContent === "Time left" && document.querySelector("dd").textContent.includes("until")`,
		`["congested", "limited", "outage", "quota_pause"].every(state => document.querySelector("#charts rect." + state))`,
		`[...document.querySelectorAll("#tables td")].every(td => td.getBoundingClientRect().right <= innerWidth)`, // also the reasons
		`[...document.querySelectorAll(".figures")].every(list => list.lastElementChild.getBoundingClientRect().right === list.getBoundingClientRect().right)`)
	t.Run("keyboard", func(t *testing.T) { checkKeyboard(t, b) })
}

// TestReport checks the report of a run.
func TestReport(t *testing.T) {
	folder := input(t, 300)
	cmd := exec.CommandContext(t.Context(), *bulkcat, "website", "in.txt", "-o", "out.parquet", "--report", "report.html")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+faultyService(t), "BULKCAT_API_KEY=key-1")
	if text, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("%v, want exit status 3: %s", err, text)
	}
	b, page := open(t), "file://"+filepath.Join(folder, "report.html")
	b.inEachLook(t, page, "report")
	errors, requests := b.noted()
	for _, e := range errors {
		t.Errorf("console: %s", e)
	}
	for _, url := range requests {
		if url != page && !strings.HasPrefix(url, "data:") {
			t.Errorf("the report asked for %s", url)
		}
	}
}

// TestReportOfARecordedHour checks the report of the sample products, as if they were many and the run took the recorded hour.
func TestReportOfARecordedHour(t *testing.T) {
	folder := t.TempDir()
	samples, err := os.ReadFile("../../cmd/bulkcat/samples/catalog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "catalog.jsonl"), samples, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), *bulkcat, "product", "catalog.jsonl", "-o", "catalog.parquet")
	cmd.Dir = folder
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	r, err := report.Build(t.Context(), filepath.Join(folder, "catalog.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	asIfOf(&r, recording())
	page, err := os.Create(filepath.Join(folder, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.WriteHTML(page), page.Close()); err != nil {
		t.Fatal(err)
	}
	open(t).inEachLook(t, "file://"+page.Name(), "recorded-report",
		`document.querySelector("main h3").textContent === "Categories"`,
		`[...document.querySelectorAll(".treemap")].filter(map => map.getBoundingClientRect().width > 0).length === 1`,
		`[...document.querySelectorAll(".when")].every(date => { // dates do not break
			const text = document.createRange();
			text.selectNodeContents(date);
			return text.getClientRects().length <= 1;
		})`)

}

// asIfOf makes a report look like that of a recorded run.
func asIfOf(r *report.Report, hour []account.Status) {
	last := hour[len(hour)-1]
	r.Output, r.Timeline = "catalog.parquet", spans(hour, 15)
	run, c := r.Run, &r.Summary.Classifications[0]
	run.Bulkcat, run.Service, run.Ended = "v1.0.0", last.Details.Service, last.Updated
	run.Starts = []report.Start{{Started: last.Started, Ended: last.Updated, Ending: account.Complete, Requests: last.Requests}}
	run.Cost = report.Cost{Made: last.Requests, Retries: last.Retries, Outcomes: last.Outcomes, Money: last.Cost, Saved: recordedStored}
	times := last.Outcomes["answered"] / c.Records
	multiply(c.Categories, times)
	for i := range c.Confidence.Bins {
		c.Confidence.Bins[i] *= times
	}
	ok, rejected := c.Records*times, last.Outcomes["404"]
	share := float64(ok) / float64(ok+rejected)
	c.Coverage = []report.Coverage{
		{Status: "ok", Records: ok, Share: share},
		{Status: "rejected", Records: rejected, Share: 1 - share, Reasons: []report.ErrorGroup{{Text: "HTTP 404 Not Found: no such product", Records: rejected}}},
	}
	run.Counts.Reasons = []account.Reason{{Status: "rejected", Class: "404", Text: "HTTP 404 Not Found", Example: "no such product", Records: rejected, File: "catalog.jsonl", Line: 118}}
	c.Records, r.Summary.Records, r.Summary.Rows = ok+rejected, ok+rejected, r.Summary.Rows*times+rejected
	run.Counts.Written, run.Counts.Rows = r.Summary.Records, r.Summary.Rows
	c.Look.Rare = []report.Rare{{Category: "Vehicles & Parts", Records: 1, Example: &report.Example{Record: 1184, Input: "velvet car seat cover", Value: "Vehicles & Parts > Vehicle Parts & Accessories"}}}
}

func multiply(list []report.Category, times int64) {
	for i := range list {
		list[i].Records *= times
		multiply(list[i].Children, times)
	}
}

// spans are a time line with a span for some seconds of a recording.
func spans(list []account.Status, seconds int) (spans []account.Span) {
	for i := seconds; i < len(list); i += seconds {
		from, to := list[i-seconds], list[i]
		spans = append(spans, account.Span{
			Start: 1, From: from.Updated, To: to.Updated, State: to.State, Records: to.Records - from.Records, Requests: to.Requests - from.Requests,
			Outcomes: difference(to.Outcomes, from.Outcomes),
		})
	}
	return spans
}

func difference(a, b account.Attempts) account.Attempts {
	d := account.Attempts{}
	for name, n := range a {
		d[name] = n - b[name]
	}
	return d
}

// inEachLook checks a document in both widths and both color schemes: no sideways scrolling, no serious finding of axe-core, and
// expressions that are true.
func (b *browser) inEachLook(t *testing.T, url, name string, expressions ...string) {
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{400, 1400} {
			t.Run(fmt.Sprintf("%s %d", scheme, width), func(t *testing.T) {
				b.do(t,
					chromedp.EmulateViewport(width, 900),
					emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.Navigate(url))
				for _, expression := range expressions {
					var holds bool
					if b.do(t, chromedp.Evaluate(expression, &holds)); !holds {
						t.Errorf("not true: %s", expression)
					}
				}
				checkLooks(t, b, fmt.Sprintf("%s-%s-%d.png", name, scheme, width), width)
			})
		}
	}
}
