package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

const hostile = `</td><script>alert(1)</script>"'><img src=x onerror=alert(1)> | **bold** [link](http://evil.example) @all` + "\x1b[2J\u202e" + "`"

// rows are in two classifications, with each status, a tie, odd confidences and hostile text.
func rows() (list []writer.Result) {
	entry := func(value, id string, x float64) writer.Entry {
		return writer.Entry{Value: value, ID: id, Confidence: x}
	}
	sports, tennis := entry("Sports", "1", 0.9), entry("Sports > Tennis", "2", 0.15)
	for n, r := range []writer.Result{
		{Input: "a.example", Status: writer.StatusOK, Entries: []writer.Entry{sports, tennis}},
		{Input: hostile, Status: writer.StatusOK, Entries: []writer.Entry{tennis, tennis}},
		{Input: "c.example", Status: writer.StatusOK, Entries: []writer.Entry{entry(hostile, "", 1.5)}},
		{Input: "d.example", Status: writer.StatusOK, Entries: []writer.Entry{entry("Arts > Music > Jazz", "3", math.NaN())}},
		{Input: "e.example", Status: writer.StatusEmpty},
		{Input: "f.example", Status: writer.StatusFailed, Error: "gave up after 5 attempts: HTTP 503"},
		{Input: "g.example", Status: writer.StatusFailed, Error: "gave up after 7 attempts: HTTP 503"},
		{Input: "x y", Status: writer.StatusInvalid, Error: `in.csv:8: not a website: "x y"`},
		{Input: "x z", Status: writer.StatusInvalid, Error: `in.csv:9: not a website: "x z"`},
		{Input: "j.example", Status: writer.StatusRejected, Error: "rejected: " + hostile},
	} {
		r.Record, r.Classification = int64(n+1), "taxonomy_v3"
		list = append(list, r)
		r.Classification = "naics"
		if r.Status == writer.StatusOK {
			r.Entries = []writer.Entry{{Value: "541511", Title: "Custom Computer Programming Services", ID: "541511", Confidence: 0.5}}
		}
		list = append(list, r)
	}
	return list
}

func write(t *testing.T, list []writer.Result, shape writer.Shape, format writer.Format) string {
	t.Helper()
	schema := writer.Schema{Titles: true, Codes: client.Codes(), Form: writer.Form{Shape: shape}}
	path := filepath.Join(t.TempDir(), "out."+string(format))
	sink, err := writer.Open(t.Context(), writer.Options{Path: path, Format: format, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if err := sink.Write(schema.Flatten(nil, r)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func summarize(t *testing.T, path string) Summary {
	t.Helper()
	parts, err := readback.List(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Summarize(t.Context(), parts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSummaryIsEqualInAllForms compares the summaries of each format and shape. The shape top has no second category, and nested
// has a row for the categories of a record.
func TestSummaryIsEqualInAllForms(t *testing.T) {
	want := summarize(t, write(t, rows(), "", writer.Parquet))
	if want.Records != 10 || want.Rows != 22 || len(want.Classifications) != 2 {
		t.Errorf("got %d records, %d rows", want.Records, want.Rows)
	}
	for _, format := range []writer.Format{"csv", "csv.gz", "tsv", "jsonl.zst", "parquet"} {
		for _, shape := range []writer.Shape{writer.ShapeLong, writer.ShapeTop, writer.ShapeNested} {
			if format.CheckShape(shape) != nil {
				continue
			}
			got := summarize(t, write(t, rows(), shape, format))
			if shape == writer.ShapeTop {
				if got.Records != 10 || got.Rows != 20 || !slices.EqualFunc(got.Classifications[0].Coverage, want.Classifications[0].Coverage, func(a, b Coverage) bool { return a.Records == b.Records }) {
					t.Errorf("%s %s: got %+v", format, shape, got)
				}
				continue
			}
			if shape == writer.ShapeNested {
				if got.Rows != 20 {
					t.Errorf("%s %s: %d rows", format, shape, got.Rows)
				}
				got.Rows = want.Rows
			}
			a, _ := json.Marshal(want)
			b, _ := json.Marshal(got)
			if !bytes.Equal(a, b) {
				t.Errorf("%s %s: got\n%s\nwant\n%s", format, shape, b, a)
			}
		}
	}
}

// TestSummaryOfUnsortedCategories compares the summaries of a service that sorts the categories of a record with those of one
// that does not. A batch ends within the categories of some record.
func TestSummaryOfUnsortedCategories(t *testing.T) {
	var sorted, unsorted []writer.Result
	for n := range 4000 {
		x := 0.5 + float64(n%997)/2000
		entries := []writer.Entry{{Value: "Sports", ID: "1", Confidence: x}, {Value: "Arts", ID: "2", Confidence: x - float64(n%991+1)/3000}, {Value: "Arts > Music", ID: "3", Confidence: 0.01}, {Value: "News", ID: "4", Confidence: math.NaN()}}
		r := writer.Result{Record: int64(n + 1), Input: fmt.Sprint(n, ".example"), Classification: "taxonomy_v3", Status: writer.StatusOK, Entries: entries}
		sorted = append(sorted, r)
		r.Entries = slices.Clone(entries)
		slices.Reverse(r.Entries)
		unsorted = append(unsorted, r)
	}
	for _, format := range []writer.Format{writer.CSV, writer.Parquet} {
		want := summarize(t, write(t, sorted, "", format)).Classifications[0]
		got := summarize(t, write(t, unsorted, "", format)).Classifications[0]
		if len(want.Look.CloseSecond) != mostExamples || want.Categories[0].Name != "Sports" || want.Categories[0].Records != 4000 {
			t.Fatalf("%s: got %+v", format, want.Look.CloseSecond)
		}
		want.Look.Drift, got.Look.Drift = Drift{}, Drift{} // whose examples are in the order of the rows
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: got\n%s\nwant\n%s", format, b, a)
		}
	}
}

func TestSummary(t *testing.T) {
	c := summarize(t, write(t, rows(), "", writer.CSV)).Classifications[0]
	var coverage []string
	for _, s := range c.Coverage {
		text := fmt.Sprintf("%s %d", s.Status, s.Records)
		for _, r := range s.Reasons {
			text += fmt.Sprintf(", %d of %.30s at %d", r.Records, r.Text, r.Example.Record)
		}
		coverage = append(coverage, text)
	}
	if want := []string{
		"ok 4", "empty 1", "rejected 1, 1 of rejected: </td><script>alert(1 at 10", "failed 2, 2 of gave up after 5 attempts: HTTP at 6",
		"invalid 2, 2 of not a website: \"x y\" at 8",
	}; !slices.Equal(coverage, want) {
		t.Errorf("coverage %q", coverage)
	}
	tree := make(map[string]int64)
	var walk func([]Category)
	walk = func(list []Category) {
		for _, k := range list {
			tree[k.Path] = k.Records
			walk(k.Children)
		}
	}
	walk(c.Categories)
	if tree["Sports"] != 2 || tree["Sports > Tennis"] != 1 || tree["Arts"] != 1 || tree["Arts > Music > Jazz"] != 1 || c.Categories[0].Name != "Sports" || c.Categories[0].Rows != 4 {
		t.Errorf("tree %v", tree)
	}
	d := c.Confidence
	if d.Bins[18] != 1 || d.Bins[3] != 1 || d.Outside != 1 || d.Missing != 1 || *d.Mean != 0.85 {
		t.Errorf("confidence %+v", d)
	}
	look := c.Look
	if len(look.LowConfidence) != 3 || look.LowConfidence[0].Record != 2 || look.LowConfidence[0].Input != strings.ReplaceAll(hostile, "\r", "") {
		t.Errorf("low confidence %+v", look.LowConfidence)
	}
	if len(look.CloseSecond) != 2 || look.CloseSecond[0].Record != 2 || look.CloseSecond[1].Second.Value != "Sports > Tennis" {
		t.Errorf("close second %+v", look.CloseSecond)
	}
	if look.Drift.Confidence != 2 || look.Drift.Category != 0 || len(look.Drift.Examples) != 2 {
		t.Errorf("drift %+v", look.Drift)
	}
}

func TestNAICSTitles(t *testing.T) {
	c := summarize(t, write(t, rows(), "", writer.JSONL)).Classifications[1]
	k := c.Categories[0]
	if k.Name != "54" || k.Title != "Professional, Scientific, and Technical Services" || k.Records != 4 {
		t.Errorf("got %+v", k)
	}
	for len(k.Children) > 0 {
		k = k.Children[0]
	}
	if k.Path != "541511" || k.Title != "Custom Computer Programming Services" {
		t.Errorf("got %+v", k)
	}
}

func TestBoundedDistinct(t *testing.T) {
	c := (&tally{byName: make(map[string]*class)}).class("taxonomy_v3")
	for n := range mostCategories + 10 {
		c.entry(&writer.Row{Value: fmt.Sprint("category ", n)})
	}
	if len(c.paths) != mostCategories+1 || c.root.below[others].Rows != 10 {
		t.Errorf("%d categories, %d others", len(c.paths), c.root.below[others].Rows)
	}
}

func TestTop(t *testing.T) {
	s := summarize(t, write(t, rows()[:2], "", writer.CSV))
	more := summarize(t, write(t, slices.DeleteFunc(rows(), func(r writer.Result) bool { return r.Record == 3 }), "", writer.CSV))
	var got strings.Builder
	for _, o := range []TopOptions{{Level: 1}, {Level: 2, Width: 80, Blocks: true}, {Level: 3, Most: 1}} {
		if err := more.WriteTop(&got, o); err != nil {
			t.Fatal(err)
		}
		got.WriteString("---\n")
	}
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	if err := e.Encode(more.Top(2, 0)); err != nil {
		t.Fatal(err)
	}
	got.WriteString("---\n")
	if err := s.WriteTop(&got, TopOptions{Level: 1, Width: 20, Blocks: true}); err != nil {
		t.Fatal(err)
	}
	if err := (Summary{}).WriteTop(&got, TopOptions{Level: 1}); err != nil {
		t.Fatal(err)
	}
	golden(t, "top.txt", got.String())
	for _, level := range []int{1, 2, 3, 9} {
		records := int64(0)
		for _, k := range more.Top(level, 0)[0].Categories {
			records += k.Records
		}
		if records != 3 {
			t.Errorf("level %d: %d records", level, records)
		}
	}
}

// run is the account of a run with two starts.
func run(output string) account.Account {
	at := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	return account.Account{
		Bulkcat: "v1", Service: "https://api.example.com", Started: at.Add(time.Hour), Ended: at.Add(2 * time.Hour), Ending: account.Complete, Saved: 7,
		Settings: account.Settings{Kind: "website", Classification: "taxonomy_v3,naics", Inputs: []string{hostile}, Output: output, OutputFormat: "csv"},
		Counts: account.Snapshot{
			Counts:   account.Counts[int64]{Written: 10, Rows: 22, Requests: 1234, Retries: 20},
			Attempts: account.Attempts{"answered": 1200, "http_503": 34},
			Reasons:  []account.Reason{{Status: "rejected", Class: "http_422", Text: "HTTP 422", Example: hostile, Records: 1, File: "in.csv", Line: 11}},
		},
		Earlier: []account.EarlierRun{{Started: at, Ended: at.Add(time.Minute), Ending: account.Killed, Counts: account.Snapshot{Counts: account.Counts[int64]{Requests: 100}, Attempts: account.Attempts{"answered": 100}}}},
	}
}

func example(t *testing.T) Report {
	t.Helper()
	s := summarize(t, write(t, rows(), "", writer.Parquet))
	a := run("out.csv")
	r := Report{Output: "out.csv", Run: runOf(&a), Summary: &s}
	for start := range 2 {
		span := func(from, to int, state account.State, requests int64) {
			at := func(seconds int) time.Time { return a.Started.Add(time.Duration(seconds) * time.Second) }
			r.Timeline = append(r.Timeline, account.Span{Start: start + 1, From: at(from), To: at(to), State: state, Requests: requests, Outcomes: account.Attempts{"answered": requests}})
		}
		span(0, 1, account.Asking, 100)
		span(1, 2, account.Asking, 100)
		span(2, 30, account.Outage, 0)
		span(30, 31, account.Asking, 100)
	}
	return r
}

// TestHTML wants a page without scripts and without references elsewhere, whose hostile text is text.
func TestHTML(t *testing.T) {
	for name, r := range map[string]Report{"whole": example(t), "without rows": {Output: hostile, Run: example(t).Run}, "without a run": {Output: hostile, Summary: example(t).Summary}} {
		var page bytes.Buffer
		if err := r.WriteHTML(&page); err != nil {
			t.Fatal(err)
		}
		root, err := html.Parse(bytes.NewReader(page.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		ids := make(map[string]bool)
		var links []string
		text := ""
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				text += n.Data
			}
			if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "form", "base"}, n.Data) && n.Type == html.ElementNode {
				t.Errorf("%s: an element %s", name, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src":
					t.Errorf("%s: attribute %s=%q", name, a.Key, a.Val)
				case a.Key == "id" && ids[a.Val]:
					t.Errorf("%s: id %q twice", name, a.Val)
				case a.Key == "id":
					ids[a.Val] = true
				case a.Key == "href" && a.Val != "data:,", a.Key == "aria-labelledby":
					links = append(links, strings.TrimPrefix(a.Val, "#"))
				}
			}
		}
		for _, link := range links {
			if !ids[link] {
				t.Errorf("%s: there is no %q", name, link)
			}
		}
		if !strings.Contains(text, "<script>alert(1)</script>") || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: the hostile text is missing or not cleaned", name)
		}
		if strings.Contains(page.String(), "ZgotmplZ") || strings.Contains(page.String(), "NaN") {
			t.Errorf("%s: a value that the page cannot have", name)
		}
	}
}

// TestHTMLFigures wants the figures of the report in the page.
func TestHTMLFigures(t *testing.T) {
	var page strings.Builder
	if err := example(t).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page.String(), " "), " ")
	for _, want := range []string{
		"Ending complete", "Requests made 1,334", "Saved 7", "Starts 2", "answered 1,300 97.5%", "http_503 34 2.5%",
		"10 records by status", "ok 4 40.0%", "failed 2 20.0%", "2 × gave up after 5 attempts: HTTP 503", "Sports 2 50.0%",
		"54 Professional, Scientific, and Technical Services 4 100.0%", "0.15 to 0.20 1", "outage", "rejected http_422 HTTP 422 in.csv:11: &lt;/td&gt;", "With a category 40.0%", "outage 56s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	var got strings.Builder
	if err := example(t).WriteMarkdown(&got); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", got.String())
	if strings.Contains(got.String(), "<script") || strings.Contains(got.String(), "http://") {
		t.Error("markup of the input")
	}
}

func TestJSON(t *testing.T) {
	var got bytes.Buffer
	r := example(t)
	if err := json.NewEncoder(&got).Encode(r); err != nil {
		t.Fatal(err)
	}
	var back Report
	d := json.NewDecoder(&got)
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil || back.Run.Cost.Made != 1334 || back.Summary.Records != 10 || len(back.Timeline) != 8 {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("more than one line: %v", err)
	}
}

func TestKindOf(t *testing.T) {
	for text, want := range map[string]string{
		`a.csv:12: wrong "x" of 7, want 12`: `wrong … of 0, want 0`,
		`HTTP 503: busy`:                    `HTTP 503: busy`,
		`"open`:                             `…open`,
		`::: x`:                             `::: x`,
		`a:b: c`:                            `a:b: c`,
		``:                                  ``,
	} {
		if got := kindOf(withoutPlace(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzKindOf(f *testing.F) {
	f.Add(`a.csv:12: wrong "x" of 7`)
	f.Fuzz(func(t *testing.T, text string) {
		kind := kindOf(text)
		if strings.ContainsAny(kind, "123456789") && !strings.Contains(kind, "HTTP ") || len(kind) > len(text)*3 {
			t.Errorf("%q becomes %q", text, kind)
		}
	})
}

// TestRare wants the categories of level 1 that few records have, each with its first record.
func TestRare(t *testing.T) {
	var list []writer.Result
	for n := range 400 {
		value := "Sports > Tennis"
		switch n {
		case 7, 300:
			value = fmt.Sprintf("Arts > Music > %d", n)
		case 9:
			value = "Pets"
		}
		list = append(list, writer.Result{
			Record: int64(n + 1), Input: fmt.Sprint("input ", n), Status: writer.StatusOK, Classification: "taxonomy_v3", Entries: []writer.Entry{{Value: value, ID: "1", Confidence: 0.5}},
		})
	}
	got := ""
	for _, r := range summarize(t, write(t, list, "", writer.Parquet)).Classifications[0].Look.Rare {
		got += fmt.Sprintf("%s %d: %d %s %s; ", r.Category, r.Records, r.Example.Record, r.Example.Input, r.Example.Value)
	}
	if want := "Pets 1: 10 input 9 Pets; Arts 2: 8 input 7 Arts > Music > 7; "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
