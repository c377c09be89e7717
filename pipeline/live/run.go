package live

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// Run is the Source of a run. The session must gather details (pipeline.Options.Details).
type Run struct {
	status  func() account.Status
	metrics *prometheus.Registry
	history history
}

// NewRun returns the source of a session. status is the method Status of the session.
func NewRun(status func() account.Status) *Run {
	r := &Run{status: status, metrics: prometheus.NewRegistry()}
	r.metrics.MustRegister(r)
	return r
}

// Metrics returns the figures of the status.
func (r *Run) Metrics() prometheus.Gatherer { return r.metrics }

// Status returns an account.Status.
func (r *Run) Status() any { return r.status() }

// stateWords are the states in words.
var stateWords = map[account.State]string{
	account.Starting: "starting", account.Asking: "asking", account.Congested: "congested: one request is sent at a time",
	account.Limited: "limited, waiting", account.Outage: "outage: waiting for the service", account.QuotaPause: "waiting for quota",
	account.Finishing: "finishing: storing answers and writing rows",
}

// Sample adds the status to the history.
func (r *Run) Sample() {
	if s := r.status(); s.State != account.Ended {
		r.history.add(sample{At: s.Updated, State: s.State, Counts: s.Outcomes, Allowed: s.Allowed, Latency: s.Details.Attempts.Counts})
	}
}

// View returns the status and the history.
func (r *Run) View() View {
	s := r.status()
	v := View{
		Title: figures.Title(s.Output, s.Details.Service), State: stateWords[s.State], Since: s.Since, Ended: s.State == account.Ended,
		Trouble: slices.Contains(account.Waits, s.State), Run: &s, Charts: r.history.charts(s.Outcomes, "of requests", s.Details.Attempts.Bounds),
	}
	if v.Ended {
		v.State, v.Trouble = "the run has ended: "+string(s.Ending), s.Ending != account.Complete
	}
	return v
}

// topCategories returns the most frequent categories, with their shares of the records.
func topCategories(s account.Status) (list []figures.Part) {
	for _, c := range s.Details.Categories {
		list = append(list, figures.Part{Name: c.Name, N: c.Records, Share: figures.Share(c.Records, s.Records)})
	}
	return list
}

// timeOfDay formats a time, with the date if it is not the date of now.
func timeOfDay(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("Jan 2 15:04")
}

// Describe describes no metric: the metrics depend on the run.
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
