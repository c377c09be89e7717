package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// hostile is text that would end an element, if the page did not escape it.
const hostile = `</td><script>alert("x")</script>`

func statusOf(state account.State) account.Status {
	quota := int64(1234)
	return account.Status{
		Output: "out.csv", State: state, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Updated: time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC),
		Records: 40, Blank: 3, Total: 100, Requests: 50, Outcomes: account.Attempts{"answered": 48, "limited": 2}, Allowed: 10, Quota: &quota,
		Details: &account.Details{
			Service:    "https://api.example.com",
			Settings:   account.Settings{Kind: "website", Output: "out.csv"},
			Attempts:   account.Latency{Bounds: []float64{0.1, 1}, Counts: []int64{40, 9, 1}, Seconds: 6},
			Categories: []account.CategoryCount{{Name: hostile, Records: 30}},
			Confidence: []int64{0, 0, 0, 0, 0, 0, 0, 10, 20, 10},
			Learned:    "10 requests/s, 600 requests in 1m0s",
			Earlier:    []account.EarlierStart{{Ended: time.Time{}.Add(time.Minute), Ending: account.Killed, Requests: 1700}},
			Failures:   []account.Failure{{File: "in.txt", Line: 7, Input: hostile, Status: "rejected", Reason: "HTTP 404"}},
		},
	}
}

func serve(t *testing.T, status func() account.Status) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Show(NewRun(status))
	t.Cleanup(func() { _ = s.http.Close() })
	return s
}

func get(t *testing.T, s *Server, path string) (string, *http.Response) {
	t.Helper()
	response, err := http.Get(s.URL() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), response
}

// textOf is the text of a part of the page, with "|" between elements.
func textOf(part string, v View) string {
	rendered := string(render(part, v))
	if strings.Contains(rendered, "The page has an error") {
		panic(rendered)
	}
	text := html.UnescapeString(regexp.MustCompile(`(\s*<[^>]*>\s*)+`).ReplaceAllString(rendered, " | "))
	return strings.TrimSpace(text)
}

func TestPageEscapesInputsAndLoadsNothingElsewhere(t *testing.T) {
	s := serve(t, func() account.Status { return statusOf(account.Asking) })
	text, response := get(t, s, "")
	if strings.Contains(text, "<script>alert") || !strings.Contains(text, "&lt;script&gt;alert") {
		t.Error("the page does not escape a category and an input")
	}
	if policy := response.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("Content-Security-Policy: %q", policy)
	}
	for _, elsewhere := range []string{"http://", "https://", "//cdn"} {
		for _, attribute := range []string{`src="`, `href="`} {
			if strings.Contains(text, attribute+elsewhere) {
				t.Errorf("the page loads %s%s...", attribute, elsewhere)
			}
		}
	}
}

func TestEveryPathHasTheSameFigures(t *testing.T) {
	s := serve(t, func() account.Status { return statusOf(account.Outage) })
	text, _ := get(t, s, "status.json")
	var status account.Status
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Fatal(err)
	}
	if status.Requests != 50 || status.Records != 40 || *status.Quota != 1234 {
		t.Errorf("status.json: %s", text)
	}
	text, _ = get(t, s, "metrics")
	for _, line := range []string{
		"bulkcat_run_requests_total 50", "bulkcat_run_records 40", "bulkcat_run_blank 3", "bulkcat_run_quota_left 1234", `bulkcat_run_state{state="outage"} 1`,
		`bulkcat_run_outcomes_total{outcome="limited"} 2`, "bulkcat_run_request_duration_seconds_count 50", `bulkcat_run_request_duration_seconds_bucket{le="1"} 49`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("/metrics has no line %q", line)
		}
	}
	text, _ = get(t, s, "")
	for _, part := range []string{"outage: waiting for the service", "40 of 100 records", "1,234", "40.0%", "HTTP 404", "in.txt:7", "learned: 10 requests/s, 600 requests in 1m0s"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	if text, _ = get(t, s, "healthz"); text != "ok\n" {
		t.Errorf("/healthz: %q", text)
	}
}

// In an outage the page says why, when the service is asked next, and when the run gives up.
func TestPageOfAnOutage(t *testing.T) {
	status := statusOf(account.Outage)
	next, giveUp, atEnd := status.Updated.Add(30*time.Second), status.Updated.Add(30*time.Hour), money.Amount(0)
	if err := atEnd.UnmarshalJSON([]byte("12.5")); err != nil {
		t.Fatal(err)
	}
	status.Cause, status.Next, status.GiveUp, status.CostAtEnd = "HTTP 503 "+hostile, &next, &giveUp, &atEnd
	status.Cost = &money.Cost{Price: money.Price{Request: 1, Currency: "EUR"}}
	v := NewRun(func() account.Status { return status }).View()
	if v.Title != "out.csv from https://api.example.com" || !v.Trouble {
		t.Fatalf("got %q, %v", v.Title, v.Trouble)
	}
	notes := textOf("state", v)
	if want := "The next attempt is at " + next.Local().Format("15:04:05") + ". The run gives up at " + giveUp.Local().Format("Jan 2 15:04"); !strings.Contains(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
	if figures, want := textOf("figures", v), "| Cost | 0.00 EUR | about 12.50 EUR at the end; saved"; !strings.Contains(figures, want) {
		t.Errorf("got %q, want %q", figures, want)
	}
	text, _ := get(t, serve(t, func() account.Status { return status }), "")
	if !strings.Contains(text, "The last error: HTTP 503 &lt;/td&gt;") || strings.Contains(text, "<script>alert") {
		t.Error("the page does not show the last error, or does not escape it")
	}
	if v := NewRun(func() account.Status { return statusOf(account.Asking) }).View(); strings.Contains(textOf("state", v), ".") {
		t.Errorf("a run that asks: %q", textOf("state", v))
	}
}

func TestEventsEndWithTheRun(t *testing.T) {
	var state atomic.Value
	state.Store(account.Asking)
	s := serve(t, func() account.Status { return statusOf(state.Load().(account.State)) })
	stop := s.Watch()
	response, err := http.Get(s.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	next := func() (event struct {
		Ended bool
		Parts map[string]string
	}) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &event); err != nil {
					t.Fatal(err)
				}
				return event
			}
		}
		t.Fatal("the events ended early")
		return event
	}
	if event := next(); event.Ended || !strings.Contains(event.Parts["state"], "asking") {
		t.Errorf("first event: %+v", event)
	}
	state.Store(account.Ended)
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	event := next()
	for !event.Ended {
		event = next()
	}
	if !strings.Contains(event.Parts["state"], "the run has ended") {
		t.Errorf("last event: %+v", event)
	}
	if lines.Scan() && lines.Text() != "" {
		t.Errorf("after the last event: %q", lines.Text())
	}
}

func TestPageBeforeTheRun(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := get(t, s, ""); !strings.Contains(text, "starting") {
		t.Error("the page does not say that the run starts")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestHistoryIsBoundedAndKeepsTheBeginning(t *testing.T) {
	var h history
	start := time.Unix(0, 0)
	for i := range 10_000 {
		h.add(sample{At: start.Add(time.Duration(i) * time.Second), Counts: map[string]int64{"answered": int64(10 * i)}})
	}
	if n := len(h.samples); n < mostSamples/4 || n > mostSamples {
		t.Errorf("%d samples", n)
	}
	if !h.samples[0].At.Equal(start) {
		t.Errorf("the first sample is of %v", h.samples[0].At)
	}
	for _, c := range h.charts(map[string]int64{"answered": 1}, "", nil) {
		if c.Title != "Requests" {
			continue
		}
		for i, v := range c.Lines[0].Values {
			if math.Abs(v-10) > 1e-9 {
				t.Fatalf("rate %d is %v, want 10", i, v)
			}
		}
	}
}

// TestReadersChangeNothing reads all that the server has, while nothing is sampled.
func TestReadersChangeNothing(t *testing.T) {
	status := statusOf(account.Limited)
	run := NewRun(func() account.Status { return status })
	metrics := prometheus.NewRegistry()
	service := NewService("serve", metrics)
	for name, tt := range map[string]struct {
		source  Source
		history *history
	}{"run": {run, &run.history}, "service": {service, &service.history}} {
		s := new(Server)
		s.Show(tt.source)
		tt.source.Sample()
		for _, path := range []string{"/", "/status.json", "/metrics", "/healthz", "/page.css", "/page.js"} {
			status.Updated = status.Updated.Add(time.Minute)
			w := httptest.NewRecorder()
			s.routes().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if len(tt.history.samples) != 1 || len(run.history.waited) != 0 || w.Code != http.StatusOK {
				t.Errorf("%s: after %s: status %d, %d samples, waited %v", name, path, w.Code, len(tt.history.samples), run.history.waited)
			}
		}
	}
}

// TestReadersAddNoSamples wants a rate of the last second, not of the moment since the last view.
func TestReadersAddNoSamples(t *testing.T) {
	status := statusOf(account.Asking)
	run := NewRun(func() account.Status { return status })
	run.Sample()
	status.Updated, status.Outcomes = status.Updated.Add(time.Second), account.Attempts{"answered": 58, "limited": 2}
	run.Sample()
	v := run.View()
	if got := v.Charts[0].Lines[0].Values; !slices.Equal(got, []float64{10}) {
		t.Errorf("rates %v, want 10", got)
	}
	status.State, status.Updated, status.Outcomes = account.Ended, status.Updated.Add(time.Second), account.Attempts{"answered": 60, "limited": 2}
	if got := run.View().Charts[0].Lines[0].Cells; !slices.Equal(got, []string{"10/s", "60", "96.8%"}) {
		t.Errorf("the legend of a run that has ended has %q, want its last counts", got)
	}
	if lines := v.Charts[1].Lines; len(lines) != 0 {
		t.Errorf("latencies without new requests: %+v", lines)
	}
}

func TestQuantile(t *testing.T) {
	bounds := []float64{1, 2, 4}
	for name, c := range map[string]struct {
		q             float64
		before, after []int64
		want          float64
	}{
		"empty":                  {0.5, nil, []int64{0, 0, 0, 0}, math.NaN()},
		"middle of a bucket":     {0.5, nil, []int64{0, 10, 0, 0}, 1.5},
		"across buckets":         {0.75, nil, []int64{5, 0, 5, 0}, 3},
		"beyond the last bound":  {0.95, nil, []int64{1, 0, 0, 99}, 4},
		"first bucket, from 0":   {0.5, nil, []int64{4, 0, 0, 0}, 0.5},
		"a difference of counts": {0.5, []int64{7, 1}, []int64{7, 11, 0, 0}, 1.5},
	} {
		if got := quantile(c.q, bounds, c.before, c.after); math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestBandsOfStates wants the time of each state in the chart, to the second, also when samples are joined.
func TestBandsOfStates(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	status := statusOf(account.Asking)
	run := NewRun(func() account.Status { return status })
	for second := range 2000 {
		status.Updated, status.State = start.Add(time.Duration(second)*time.Second), account.Asking
		switch {
		case second >= 500 && second < 900:
			status.State = account.Limited
		case second >= 1000 && second < 1005: // shorter than the time between samples
			status.State = account.Outage
		}
		run.Sample()
	}
	chart := run.View().Charts[0]
	if want := []figures.Note{{Class: "limited", Text: "limited 6m40s"}, {Class: "outage", Text: "outage 5s"}}; !slices.Equal(chart.Key, want) {
		t.Errorf("key %v, want %v", chart.Key, want)
	}
	seconds := make(map[string]float64)
	for _, b := range chart.Bands {
		seconds[b.Class] += 1999 * b.Width() * b.Share
		if b.Class == "limited" && b.Share > 0.99 && b.Width() < 0.15 {
			t.Errorf("the limited time is in several bands: %+v", chart.Bands)
		}
	}
	if math.Abs(seconds["limited"]-400) > 10 || math.Abs(seconds["outage"]-5) > 1 {
		t.Errorf("%v seconds", seconds)
	}
}

// TestTablesKeepTheReason wants few columns, of which each can break its text.
func TestTablesKeepTheReason(t *testing.T) {
	status := statusOf(account.Asking)
	status.Details.Failures[0].File = "/srv/" + strings.Repeat("long/", 40) + "in.txt"
	text, want := textOf("tables", NewRun(func() account.Status { return status }).View()), "| HTTP 404 | "+hostile+" | "+status.Details.Failures[0].File+":7 |"
	if !strings.Contains(text, want) {
		t.Errorf("got %s, want %s", text, want)
	}
	if want := "| 1m | 1,700 |"; !strings.HasSuffix(text, want) {
		t.Errorf("got %s, want the earlier start %s", text, want)
	}
}

func TestMainFigures(t *testing.T) {
	started := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	for name, tt := range map[string]struct {
		change func(*account.Status)
		want   string
	}{
		"unknown":  {func(*account.Status) {}, "| Time left | unknown |"},
		"today":    {func(s *account.Status) { s.SecondsLeft = 3660 }, "| Time left | 1h1m | until 14:01 |"},
		"tomorrow": {func(s *account.Status) { s.SecondsLeft = 13 * 3600 }, "| Time left | 13h | until Jan 3 02:00 |"},
		"quota":    {func(s *account.Status) { s.SecondsLeft, s.Stop = 600, account.QuotaExhausted }, "| Time left | 10m | until 13:10, then it stops: quota |"},
		"ended":    {func(s *account.Status) { s.State = account.Ended }, "| Took | 1h | until 13:00 |"},
	} {
		s := statusOf(account.Asking)
		s.Started, s.Updated = started, started.Add(time.Hour)
		tt.change(&s)
		if s.SecondsLeft > 0 {
			ends := s.Updated.Add(time.Duration(s.SecondsLeft) * time.Second)
			s.Ends = &ends
		}
		got := textOf("figures", NewRun(func() account.Status { return s }).View())
		if !strings.HasPrefix(got, tt.want+" Done | 40.0% | 40 of 100 records |") {
			t.Errorf("%s: %s, want %s first", name, got, tt.want)
		}
	}
}

func TestMetricsAreConsistent(t *testing.T) {
	for _, state := range []account.State{account.Asking, account.Ended} {
		registry := prometheus.NewPedanticRegistry()
		if err := registry.Register(NewRun(func() account.Status { return statusOf(state) })); err != nil {
			t.Fatal(err)
		}
		if families, err := registry.Gather(); err != nil || len(families) < 10 {
			t.Errorf("%d metrics, %v", len(families), err)
		}
	}
}

func BenchmarkView(b *testing.B) {
	run := NewRun(func() account.Status { return statusOf(account.Asking) })
	for i := range mostSamples {
		run.history.add(sample{At: time.Unix(int64(i), 0), Counts: map[string]int64{"answered": int64(i), "limited": 1}})
	}
	for b.Loop() {
		fmt.Fprint(io.Discard, len(render("charts", run.View())))
	}
}
