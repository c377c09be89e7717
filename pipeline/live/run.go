package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/pipeline/record"
)

// Run is the source of a run. The session gathers details (pipeline.SessionOptions.Details).
type Run struct {
	status  func() record.Status
	metrics *prometheus.Registry
	mu      sync.Mutex
	history history
}

// NewRun makes the source of a session that has begun, by its method Status.
func NewRun(status func() record.Status) *Run {
	r := &Run{status: status, metrics: prometheus.NewRegistry()}
	r.metrics.MustRegister(r)
	return r
}

// Metrics has the figures of the status.
func (r *Run) Metrics() prometheus.Gatherer { return r.metrics }

// Status is a record.Status.
func (r *Run) Status() any { return r.status() }

// stateWords are the states in words.
var stateWords = map[record.State]string{
	record.Starting: "starting", record.Asking: "asking", record.Congested: "congested: one request is sent at a time",
	record.Limited: "limited, waiting", record.Outage: "outage: waiting for the service", record.QuotaPause: "waiting for quota",
	record.Finishing: "finishing: storing answers and writing rows",
}

// View shows the status, and adds it to the history.
func (r *Run) View() View {
	s := r.status()
	d := s.Details
	v := View{
		Title: s.Output, State: stateWords[s.State], Since: s.Since, Ended: s.State == record.Ended, Done: s.Records, Total: s.Total,
		Trouble: s.State == record.Outage || s.State == record.QuotaPause || s.State == record.Congested || s.State == record.Limited,
		Figures: figures(s), Settings: settings(s),
	}
	if v.Ended {
		v.State, v.Trouble = "the run has ended: "+string(s.Ending), s.Ending != record.Complete
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !v.Ended {
		r.history.add(sample{At: s.Updated, Counts: s.Outcomes, Allowed: s.Allowed, Latency: d.Attempts.Counts})
	}
	v.Charts = charts(&r.history, d.Attempts.Bounds)
	v.Tables = tables(s)
	return v
}

func figures(s record.Status) []Figure {
	all := []Figure{
		{"Records", group(s.Records), fmt.Sprintf("%s a second", number(s.RecordsPerSecond))},
		{"Requests", group(s.Requests), fmt.Sprintf("%s a second", number(s.RequestsPerSecond))},
	}
	if c := s.Cost; c != nil {
		all = append(all, Figure{"Cost", c.Price.Text(c.Total), "saved: " + c.Price.Text(c.Saved)})
	}
	all = append(all, []Figure{
		{"Retries", group(s.Retries), fmt.Sprintf("%s wait", group(s.ToRetry))},
		{"In flight", group(s.InFlight), ""},
		{"Without an answer", group(s.Unanswered), ""},
	}...)
	if s.Free > 0 {
		all = append(all, Figure{"Free", group(s.Free), "answered by the model"})
	}
	if s.Allowed > 0 {
		all = append(all, Figure{"Limit", number(s.Allowed) + "/s", "learned: " + s.Details.Learned})
	}
	if s.Quota != nil {
		detail := ""
		if s.Stop == record.QuotaExhausted && s.Ends != nil {
			detail = "used up at " + s.Ends.Local().Format("Jan 2 15:04")
		}
		all = append(all, Figure{"Quota left", group(*s.Quota), detail})
	}
	if s.Ends != nil && s.Stop == "" {
		all = append(all, Figure{"Time left", time.Duration(s.SecondsLeft * float64(time.Second)).Round(time.Second).String(), "until " + s.Ends.Local().Format("Jan 2 15:04")})
	}
	return all
}

// charts are those of a history of outcomes.
func charts(h *history, bounds []float64) []Chart {
	times := h.times()
	perSecond := func(name string) func(sample, sample, float64) float64 {
		return func(before, after sample, seconds float64) float64 {
			return float64(max(0, after.Counts[name]-before.Counts[name])) / seconds
		}
	}
	outcomes := Chart{Title: "Outcomes", Unit: "requests a second", Stacked: true, Times: times}
	names := h.names()
	answers := []string{"answered", "200"}
	slices.SortStableFunc(names, func(a, b string) int { // answers first
		return slices.Index(answers, b) - slices.Index(answers, a)
	})
	for _, name := range names {
		outcomes.Lines = append(outcomes.Lines, Line{strings.ReplaceAll(name, "_", " "), h.each(perSecond(name))})
	}
	rate := Chart{Title: "Rate and limit", Unit: "requests a second", Times: times}
	if len(times) > 0 {
		rate.Lines = []Line{
			{"requests", h.each(func(before, after sample, seconds float64) float64 {
				return float64(max(0, sum(after.Counts)-sum(before.Counts))) / seconds
			})},
			{"limit", h.each(func(_, after sample, _ float64) float64 {
				if after.Allowed == 0 {
					return math.NaN()
				}
				return after.Allowed
			})},
		}
	}
	latency := Chart{Title: "Latency", Unit: "milliseconds", Times: times}
	if len(times) > 0 {
		for _, q := range []struct {
			name string
			q    float64
		}{{"median", 0.5}, {"95%", 0.95}} {
			latency.Lines = append(latency.Lines, Line{q.name, h.each(func(before, after sample, _ float64) float64 {
				d := difference(before.Latency, after.Latency)
				if slices.Max(append(d, 0)) == 0 {
					return math.NaN()
				}
				return 1000 * quantile(q.q, bounds, d)
			})})
		}
	}
	return []Chart{rate, latency, outcomes}
}

func sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func tables(s record.Status) []Table {
	d := s.Details
	outcomes := Table{Title: "Outcomes of requests", Columns: []string{"outcome", "requests"}, Empty: "No request has ended yet."}
	for _, name := range slices.Sorted(maps.Keys(s.Outcomes)) {
		outcomes.Rows = append(outcomes.Rows, []string{strings.ReplaceAll(name, "_", " "), group(s.Outcomes[name])})
	}
	categories := Table{Title: "Top categories", Columns: []string{"category", "records", "share"}, Empty: "No category yet."}
	records := int64(0)
	for _, n := range d.Confidence {
		records += n
	}
	for _, c := range d.Categories {
		categories.Rows = append(categories.Rows, []string{c.Name, group(c.Records)})
		categories.Shares = append(categories.Shares, float64(c.Records)/float64(max(1, s.Records)))
	}
	confidence := Table{Title: "Confidence of the best category", Columns: []string{"confidence", "records", "share"}, Empty: "No category yet."}
	if records > 0 {
		for i, n := range d.Confidence {
			confidence.Rows = append(confidence.Rows, []string{fmt.Sprintf("%.1f to %.1f", float64(i)/10, float64(i+1)/10), group(n)})
			confidence.Shares = append(confidence.Shares, float64(n)/float64(records))
		}
	}
	failures := Table{Title: "Last records without an answer", Columns: []string{"time", "record", "input", "status", "reason"}, Empty: "None."}
	for _, f := range d.Failures {
		failures.Rows = append(failures.Rows, []string{f.At.Local().Format("15:04:05"), fmt.Sprintf("%s:%d", f.File, f.Line), f.Input, string(f.Status), f.Reason})
	}
	starts := Table{Title: "Earlier starts of the run", Columns: []string{"started", "ended", "ending", "requests"}, Empty: "None."}
	for _, e := range d.Earlier {
		starts.Rows = append(starts.Rows, []string{e.Started.Local().Format("Jan 2 15:04:05"), e.Ended.Local().Format("Jan 2 15:04:05"), string(e.Ending), group(e.Requests)})
	}
	return []Table{categories, confidence, outcomes, failures, starts}
}

// settings are the members of the settings as JSON names them.
func settings(s record.Status) [][2]string {
	list := [][2]string{{"service", s.Details.Service}, {"started", s.Started.Local().Format("Jan 2 15:04:05")}, {"process", fmt.Sprint(s.PID)}}
	text, err := json.Marshal(s.Details.Settings)
	var members map[string]any
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list, [2]string{strings.ReplaceAll(name, "_", " "), fmt.Sprint(members[name])})
	}
	return list
}

// The metrics of a run.
var (
	recordsDesc    = desc("records", "Records with a status.")
	totalDesc      = desc("records_expected", "Records of the input, estimated.")
	unansweredDesc = desc("unanswered", "Records without an answer, each once for each classification.")
	requestsDesc   = desc("requests_total", "Requests made.")
	costDesc       = desc("cost_total", "What the requests of this start cost, in units of the currency.", "currency")
	retriesDesc    = desc("retries_total", "Requests that followed a failed request.")
	outcomesDesc   = desc("outcomes_total", "Requests by how they ended.", "outcome")
	inFlightDesc   = desc("requests_in_flight", "Requests in flight.")
	toRetryDesc    = desc("requests_to_retry", "Requests that wait for a retry.")
	allowedDesc    = desc("allowed_requests_per_second", "The rate that the run may use at present.")
	quotaDesc      = desc("quota_left", "Requests that the API key may still make.")
	leftDesc       = desc("seconds_left", "Estimated seconds until the last request has an outcome.")
	stateDesc      = desc("state", "1 for the present state.", "state")
	latencyDesc    = desc("request_duration_seconds", "Time until a request ended.")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bulkcat_run_"+name, help, labels, nil)
}

// Describe lists the metrics.
func (r *Run) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		recordsDesc, totalDesc, unansweredDesc, requestsDesc, costDesc, retriesDesc, outcomesDesc, inFlightDesc, toRetryDesc, allowedDesc,
		quotaDesc, leftDesc, stateDesc, latencyDesc,
	} {
		to <- d
	}
}

// Collect reads the status.
func (r *Run) Collect(to chan<- prometheus.Metric) {
	s := r.status()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	send(recordsDesc, gauge, float64(s.Records))
	send(totalDesc, gauge, float64(s.Total))
	send(unansweredDesc, gauge, float64(s.Unanswered))
	send(requestsDesc, counter, float64(s.Requests))
	if c := s.Cost; c != nil {
		send(costDesc, counter, c.Spent.Units(), c.Price.Currency)
	}
	send(retriesDesc, counter, float64(s.Retries))
	for name, n := range s.Outcomes {
		send(outcomesDesc, counter, float64(n), name)
	}
	send(inFlightDesc, gauge, float64(s.InFlight))
	send(toRetryDesc, gauge, float64(s.ToRetry))
	if s.Allowed > 0 {
		send(allowedDesc, gauge, s.Allowed)
	}
	if s.Quota != nil {
		send(quotaDesc, gauge, float64(*s.Quota))
	}
	if s.SecondsLeft > 0 {
		send(leftDesc, gauge, s.SecondsLeft)
	}
	send(stateDesc, gauge, 1, string(s.State))
	l := s.Details.Attempts
	buckets, seen := make(map[float64]uint64), uint64(0)
	for i, bound := range l.Bounds {
		seen += uint64(l.Counts[i])
		buckets[bound] = seen
	}
	to <- prometheus.MustNewConstHistogram(latencyDesc, seen+uint64(l.Counts[len(l.Bounds)]), l.Seconds, buckets)
}
