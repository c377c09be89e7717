package live

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// Run is the source of a run. The session gathers details (pipeline.Options.Details).
type Run struct {
	status  func() account.Status
	metrics *prometheus.Registry
	mu      sync.Mutex
	history history
	before  account.Status // of the last sample
	waited  map[account.State]time.Duration
}

// NewRun makes the source of a session that has begun, by its method Status.
func NewRun(status func() account.Status) *Run {
	r := &Run{status: status, metrics: prometheus.NewRegistry(), waited: make(map[account.State]time.Duration)}
	r.metrics.MustRegister(r)
	return r
}

// Metrics has the figures of the status.
func (r *Run) Metrics() prometheus.Gatherer { return r.metrics }

// Status is a account.Status.
func (r *Run) Status() any { return r.status() }

// stateWords are the states in words.
var stateWords = map[account.State]string{
	account.Starting: "starting", account.Asking: "asking", account.Congested: "congested: one request is sent at a time",
	account.Limited: "limited, waiting", account.Outage: "outage: waiting for the service", account.QuotaPause: "waiting for quota",
	account.Finishing: "finishing: storing answers and writing rows",
}

// Sample adds the status to the history.
func (r *Run) Sample() {
	s := r.status()
	r.mu.Lock()
	defer r.mu.Unlock()
	if passed := s.Updated.Sub(r.before.Updated); passed > 0 {
		if slices.Contains(account.Waits, r.before.State) {
			r.waited[r.before.State] += passed
		}
		r.before = s
	}
	if s.State != account.Ended {
		r.history.add(sample{At: s.Updated, Counts: s.Outcomes, Allowed: s.Allowed, Latency: s.Details.Attempts.Counts, Waited: maps.Clone(r.waited)})
	}
}

// View shows the status and the history.
func (r *Run) View() View {
	s := r.status()
	d := s.Details
	v := View{
		Title: figures.Title(s.Output, d.Service), Notes: notes(s), State: stateWords[s.State], Since: s.Since, Ended: s.State == account.Ended, Done: s.Records, Total: s.Total,
		Trouble: slices.Contains(account.Waits, s.State), Main: mainFigures(s), Figures: moreFigures(s), Settings: settings(s),
	}
	if v.Ended {
		v.State, v.Trouble = "the run has ended: "+string(s.Ending), s.Ending != account.Complete
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v.Charts = charts(&r.history, s.Outcomes, "of requests", d.Attempts.Bounds)
	v.Tables = tables(s)
	return v
}

// notes say why the service holds the run up, when it is asked next, and when the run gives up.
func notes(s account.Status) (list []string) {
	if s.Cause != "" {
		list = append(list, "The last error: "+s.Cause+".")
	}
	text := ""
	if s.Next != nil {
		text = "The next attempt is at " + s.Next.Local().Format("15:04:05") + "."
	}
	if s.GiveUp != nil {
		text += " The run gives up at " + timeOfDay(*s.GiveUp, s.Updated) + ", and can then be started again."
	}
	if text = strings.TrimSpace(text); text != "" {
		list = append(list, text)
	}
	return list
}

// mainFigures say how far the run is.
func mainFigures(s account.Status) []Figure {
	left := Figure{Name: "Time left", Value: "unknown"}
	switch {
	case s.State == account.Ended:
		left = Figure{"Took", figures.Duration(s.Updated.Sub(s.Started)), "until " + timeOfDay(s.Updated, s.Started)}
	case s.Ends != nil:
		left.Value, left.Detail = figures.Duration(time.Duration(s.SecondsLeft*float64(time.Second))), "until "+timeOfDay(*s.Ends, s.Updated)
		if s.Stop != "" {
			left.Detail += ", then it stops: " + string(s.Stop)
		}
	}
	done := Figure{"Done", figures.Count(s.Records), "records"}
	if s.Total > 0 {
		done.Value, done.Detail = figures.Percent(figures.Share(s.Records, s.Total)), figures.Count(s.Records)+" of "+figures.Count(s.Total)+" records"
	}
	list := []Figure{left, done, {"Rate", figures.Number(s.RecordsPerSecond) + "/s", "records; " + figures.Number(s.RequestsPerSecond) + "/s requests"}}
	if c := s.Cost; c != nil {
		cost := Figure{"Cost", c.Price.Text(c.Total), "saved: " + c.Price.Text(c.Saved)}
		if s.CostAtEnd != nil && s.State != account.Ended {
			cost.Detail = "about " + c.Price.Text(*s.CostAtEnd) + " at the end; " + cost.Detail
		}
		list = append(list, cost)
	}
	return list
}

// timeOfDay is a time, with the date unless that is the date of now.
func timeOfDay(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("Jan 2 15:04")
}

func moreFigures(s account.Status) []Figure {
	answers := s.Records * int64(max(1, len(s.Details.Settings.Classifications())))
	all := []Figure{
		{"Requests", figures.Count(s.Requests), figures.Count(s.InFlight) + " in flight"},
		{"Retries", figures.Count(s.Retries), figures.Count(s.ToRetry) + " wait"},
		{"Without an answer", figures.Count(s.Unanswered), figures.Percent(figures.Share(s.Unanswered, answers))},
	}
	if s.Blank > 0 {
		all = append(all, Figure{"Blank", figures.Count(s.Blank), "without an input"})
	}
	if s.Free > 0 {
		all = append(all, Figure{"Free", figures.Count(s.Free), "answered by the model"})
	}
	if s.Allowed > 0 {
		all = append(all, Figure{"Limit", figures.Number(s.Allowed) + "/s", "learned: " + s.Details.Learned})
	}
	if s.Quota != nil {
		all = append(all, Figure{"Quota left", figures.Count(*s.Quota), "requests"})
	}
	return all
}

// charts are those of a history of outcomes. The counts are newer than those of the last sample.
func charts(h *history, counts map[string]int64, unit string, bounds []float64) []figures.Chart {
	from, to := h.span()
	ticks, places, bands, last := figures.ClockTicks(from.Local(), to.Local()), h.places(), h.bands(), h.last()
	requests := figures.Chart{
		Title: "Requests", Unit: "a second, by outcome", Suffix: "/s", X: places, Ticks: ticks, Bands: bands, Key: figures.KeyOfWaits(last.Waited),
		Columns: []string{"now", "total", "share"},
	}
	names, total := slices.Collect(maps.Keys(counts)), sum(counts)
	figures.SortOutcomes(names, counts)
	for _, name := range names {
		values := h.each(func(before, after sample, seconds float64) float64 {
			return float64(max(0, after.Counts[name]-before.Counts[name])) / seconds
		})
		n := counts[name]
		requests.Lines = append(requests.Lines, figures.Line{Name: name, Class: figures.OutcomeClass(name), Values: values, Area: true, Cells: []string{
			newest(values, "/s"), figures.Count(n), figures.Percent(figures.Share(n, total)),
		}})
	}
	limits := h.each(func(_, after sample, _ float64) float64 {
		if after.Allowed == 0 || math.IsInf(after.Allowed, 1) {
			return math.NaN()
		}
		return after.Allowed
	})
	if slices.ContainsFunc(limits, func(v float64) bool { return !math.IsNaN(v) }) {
		requests.Lines = append(requests.Lines, figures.Line{Name: "limit", Class: "limit", Values: limits, Cells: []string{newest(limits, "/s"), "", ""}})
	}
	latency := figures.Chart{Title: "Latency", Unit: unit, Suffix: " ms", X: places, Ticks: ticks, Bands: bands, Key: requests.Key, Columns: []string{"now", "most"}}
	for i, quantity := range []struct {
		name string
		q    float64
	}{{"median", 0.5}, {"95%", 0.95}} {
		values := h.each(func(before, after sample, _ float64) float64 {
			d := difference(before.Latency, after.Latency)
			if slices.Max(append(d, 0)) == 0 {
				return math.NaN()
			}
			return 1000 * quantile(quantity.q, bounds, d)
		})
		most := math.NaN()
		for _, v := range values {
			if !(v <= most) && !math.IsNaN(v) {
				most = v
			}
		}
		if math.IsNaN(most) {
			continue
		}
		latency.Lines = append(latency.Lines, figures.Line{Name: quantity.name, Class: fmt.Sprint("s", i), Values: values, Cells: []string{
			newest(values, " ms"), newest([]float64{most}, " ms"),
		}})
	}
	return []figures.Chart{requests, latency}
}

// newest is the last value with its unit.
func newest(values []float64, unit string) string {
	if len(values) == 0 || math.IsNaN(values[len(values)-1]) {
		return "none"
	}
	return figures.Number(values[len(values)-1]) + unit
}

func sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func tables(s account.Status) []Table {
	d := s.Details
	categories := Table{Title: "Top categories", Columns: append(texts("category"), number("records")), Empty: "No category yet."}
	records := int64(0)
	for _, n := range d.Confidence {
		records += n
	}
	for _, c := range d.Categories {
		categories.Rows = append(categories.Rows, append(texts(c.Name), number(figures.Count(c.Records))))
		categories.Shares = append(categories.Shares, figures.Share(c.Records, s.Records))
	}
	confidence := Table{Title: "Confidence of the best category", Columns: append(texts("confidence"), number("records")), Empty: "No category yet."}
	if records > 0 {
		for i, n := range d.Confidence {
			confidence.Rows = append(confidence.Rows, append(texts(fmt.Sprintf("%.1f to %.1f", float64(i)/10, float64(i+1)/10)), number(figures.Count(n))))
			confidence.Shares = append(confidence.Shares, figures.Share(n, records))
		}
	}
	failures := Table{Title: "Last records without an answer", Wide: true, Columns: texts("status", "reason", "record"), Empty: "None."}
	for _, f := range d.Failures {
		failures.Rows = append(failures.Rows, []Cell{
			{Text: string(f.Status), Detail: f.At.Local().Format("15:04:05")}, {Text: f.Reason}, {Text: f.Input, Detail: fmt.Sprintf("%s:%d", f.File, f.Line)},
		})
	}
	list := []Table{categories, confidence, failures}
	if len(d.Earlier) > 0 {
		starts := Table{Title: "Earlier starts of the run", Wide: true, Columns: append(texts("started", "ending"), number("took"), number("requests"))}
		for _, e := range d.Earlier {
			starts.Rows = append(starts.Rows, append(texts(e.Started.Local().Format("Jan 2 15:04"), string(e.Ending)),
				number(figures.Duration(e.Ended.Sub(e.Started))), number(figures.Count(e.Requests))))
		}
		list = append(list, starts)
	}
	return list
}

// settings are those of the run, and its process.
func settings(s account.Status) [][2]string {
	return append(figures.Settings(s.Details.Settings, s.Details.Service),
		[2]string{"Started", s.Started.Local().Format("Jan 2 15:04:05")}, [2]string{"Process", fmt.Sprint(s.PID)})
}

// Describe lists nothing: which metrics there are depends on the run.
func (r *Run) Describe(chan<- *prometheus.Desc) {}

// Collect reads the status.
func (r *Run) Collect(to chan<- prometheus.Metric) {
	s := r.status()
	send := func(kind prometheus.ValueType, name, help string, v float64, label ...string) {
		labels := prometheus.Labels{}
		if len(label) == 2 {
			labels[label[0]] = label[1]
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("bulkcat_run_"+name, help, nil, labels), kind, v)
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	send(gauge, "records", "Records with a status.", float64(s.Records))
	send(gauge, "records_expected", "Records of the input, estimated.", float64(s.Total))
	send(gauge, "unanswered", "Records without an answer, each once for each classification.", float64(s.Unanswered))
	send(gauge, "blank", "Records without an input, each once for each classification.", float64(s.Blank))
	send(counter, "requests_total", "Requests made.", float64(s.Requests))
	if c := s.Cost; c != nil {
		send(counter, "cost_total", "What the requests of this start cost, in units of the currency.", c.Spent.Units(), "currency", c.Price.Currency)
	}
	send(counter, "retries_total", "Requests that followed a failed request.", float64(s.Retries))
	for name, n := range s.Outcomes {
		send(counter, "outcomes_total", "Requests by how they ended.", float64(n), "outcome", name)
	}
	send(gauge, "requests_in_flight", "Requests in flight.", float64(s.InFlight))
	send(gauge, "requests_to_retry", "Requests that wait for a retry.", float64(s.ToRetry))
	if s.Allowed > 0 {
		send(gauge, "allowed_requests_per_second", "The rate that the run may use at present.", s.Allowed)
	}
	if s.Quota != nil {
		send(gauge, "quota_left", "Requests that the API key may still make.", float64(*s.Quota))
	}
	if s.SecondsLeft > 0 {
		send(gauge, "seconds_left", "Estimated seconds until the last request has an outcome.", s.SecondsLeft)
	}
	send(gauge, "state", "1 for the present state.", 1, "state", string(s.State))
	l := s.Details.Attempts
	buckets, seen := make(map[float64]uint64), uint64(0)
	for i, bound := range l.Bounds {
		seen += uint64(l.Counts[i])
		buckets[bound] = seen
	}
	latency := prometheus.NewDesc("bulkcat_run_request_duration_seconds", "Time until a request ended.", nil, nil)
	to <- prometheus.MustNewConstHistogram(latency, seen+uint64(l.Counts[len(l.Bounds)]), l.Seconds, buckets)
}
