package live

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// Service is the source of a service or a gateway. All figures are those of its metrics.
type Service struct {
	title   string
	started time.Time
	metrics *prometheus.Registry

	mu      sync.Mutex
	history history
	state   string    // of the upstream at the last sample
	since   time.Time // the first sample with this state
	sampled time.Time // the last sample
	waited  map[account.State]time.Duration
}

// NewService makes the source of a service that begins now, with the registry of its metrics.
func NewService(title string, metrics *prometheus.Registry) *Service {
	now := time.Now()
	return &Service{title: title, started: now, metrics: metrics, since: now, sampled: now, waited: map[account.State]time.Duration{}}
}

// Metrics are those of the service.
func (s *Service) Metrics() prometheus.Gatherer { return s.metrics }

// Status is an object with a member for each metric of the service, except histograms.
func (s *Service) Status() any {
	status := map[string]any{"started": s.started.UTC()}
	for name, family := range s.read() {
		for _, m := range family {
			value := valueOf(m)
			if m.GetHistogram() == nil && (name != requestsName || value > 0) && !math.IsInf(value, 0) && !math.IsNaN(value) { // JSON has no such number
				status[name+labels(m)] = value
			}
		}
	}
	return status
}

// The metrics of a service and a gateway that the page shows.
const (
	requestsName = "bulkcat_service_requests_total"
	durationName = "bulkcat_service_request_duration_seconds"
	inFlightName = "bulkcat_service_requests_in_flight"
	answersName  = "bulkcat_service_answers_total"
	quotaName    = "bulkcat_service_quota_remaining"

	cacheName        = "bulkcat_gateway_requests_total"
	keyCallsName     = "bulkcat_gateway_key_waiting_requests"
	keyWaitName      = "bulkcat_gateway_key_wait_seconds"
	upstreamState    = "bulkcat_gateway_upstream_state" // 1 for the label of the state
	upstreamRate     = "bulkcat_gateway_upstream_rate"
	upstreamDuration = "bulkcat_gateway_upstream_duration_seconds"
	upstreamAttempts = "bulkcat_gateway_upstream_attempts_total"
	upstreamFailures = "bulkcat_gateway_upstream_failures_total"
	upstreamQuota    = "bulkcat_gateway_upstream_quota_remaining"
	upstreamWait     = "bulkcat_gateway_upstream_wait_seconds"
	upstreamCost     = "bulkcat_gateway_upstream_cost_total"
	upstreamSaved    = "bulkcat_gateway_upstream_saved_total"
	waitingName      = "bulkcat_gateway_waiting_requests"

	mostRows = 100 // of a table
)

// upstreamWords say what a gateway does while its upstream is in a state other than "up".
var upstreamWords = map[string]string{
	"limited": "the upstream refuses requests for a while",
	"out":     "serving stored answers: the upstream does not answer",
	"blocked": "serving stored answers: the upstream refuses the API key, or its answers cannot be used",
	"spent":   "serving stored answers: the upstream's quota is used up",
}

// reading are the metrics at one moment, by name, without those of the process.
type reading map[string][]*dto.Metric

func (s *Service) read() reading {
	families, _ := s.metrics.Gather() // with an error it has the other metrics
	r := make(reading)
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "bulkcat_") {
			r[f.GetName()] = f.GetMetric()
		}
	}
	return r
}

// by returns the sums of a metric by a label; those of 0 are left out.
func (r reading) by(name, label string) map[string]float64 {
	sums := make(map[string]float64)
	for _, m := range r[name] {
		for _, l := range m.GetLabel() {
			if l.GetName() == label && valueOf(m) != 0 {
				sums[l.GetValue()] += valueOf(m)
			}
		}
	}
	return sums
}

// value is that of a metric without labels, or of the first one; 0 for none.
func (r reading) value(name string) float64 {
	if len(r[name]) == 0 {
		return 0
	}
	return valueOf(r[name][0])
}

// counts are the requests by HTTP status.
func (r reading) counts() map[string]int64 {
	counts := make(map[string]int64)
	for status, n := range r.by(requestsName, "status") {
		counts[status] = int64(n)
	}
	return counts
}

// latency is the histogram of the attempts at the upstream or, without one, of the requests.
func (r reading) latency() (bounds []float64, counts []int64) {
	histograms := r[upstreamDuration]
	if histograms == nil {
		histograms = r[durationName]
	}
	for _, m := range histograms {
		h := m.GetHistogram()
		if counts == nil { // all have the same buckets
			counts = make([]int64, len(h.GetBucket())+1)
			for _, b := range h.GetBucket() {
				bounds = append(bounds, b.GetUpperBound())
			}
		}
		before := int64(0)
		for i, b := range h.GetBucket() {
			counts[i] += int64(b.GetCumulativeCount()) - before
			before = int64(b.GetCumulativeCount())
		}
		counts[len(bounds)] += int64(h.GetSampleCount()) - before
	}
	return bounds, counts
}

// valueOf is the value of a counter or a gauge; the other one is 0.
func valueOf(m *dto.Metric) float64 { return m.GetCounter().GetValue() + m.GetGauge().GetValue() }

// labels are the labels as Prometheus writes them; "" for none.
func labels(m *dto.Metric) string {
	var list []string
	for _, l := range m.GetLabel() {
		list = append(list, l.GetName()+"="+strconv.Quote(l.GetValue()))
	}
	if len(list) == 0 {
		return ""
	}
	return "{" + strings.Join(list, ",") + "}"
}

// upstreamWaits are the states of the upstream in which a gateway waits, as the charts of runs name them.
var upstreamWaits = map[string]account.State{
	"limited": account.Limited, "out": account.Outage, "blocked": account.Outage, "spent": account.QuotaPause,
}

// Sample adds the metrics to the history.
func (s *Service) Sample() {
	r := s.read()
	_, latency := r.latency()
	now := time.Now()
	next := sample{At: now, Counts: r.counts(), Latency: latency}
	if rate := r.value(upstreamRate); !math.IsInf(rate, 1) {
		next.Allowed = rate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := r.upstreamState(); state != s.state {
		s.state, s.since = state, now
	}
	if wait, ok := upstreamWaits[s.state]; ok {
		s.waited[wait] += now.Sub(s.sampled)
	}
	s.sampled, next.Waited = now, maps.Clone(s.waited)
	s.history.add(next)
}

// View shows the metrics and the history.
func (s *Service) View() View {
	r := s.read()
	counts := r.counts()
	v := View{
		Title: s.title, State: "serving", Since: s.started, Settings: [][2]string{{"Started", s.started.Format(time.DateTime)}},
		Main: []Figure{{"Requests", figures.Count(sum(counts)), figures.Number(r.value(inFlightName)) + " in flight"}},
	}
	if words := upstreamWords[r.upstreamState()]; words != "" {
		v.State, v.Trouble = words, true
	}
	if wait := r.value(upstreamWait); wait > 0 {
		v.Notes = append(v.Notes, "The upstream is asked again in "+figures.Duration(time.Duration(wait*float64(time.Second)).Round(time.Second))+".")
	}
	unit := "of requests"
	if r[upstreamState] != nil {
		unit = "of attempts at the upstream"
		v.Main, v.Figures = append(v.Main, r.savings()...), r.upstream()
	}
	v.Tables = []Table{r.keys(), operations(r.by(requestsName, "operation"))}
	bounds, _ := r.latency()
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.Trouble && s.state == r.upstreamState() {
		v.Since = s.since
	}
	v.Charts = charts(&s.history, counts, unit, bounds)
	return v
}

// upstreamState is "" for a service without an upstream.
func (r reading) upstreamState() string {
	for state := range r.by(upstreamState, "state") {
		return state // the others are 0
	}
	return ""
}

// savings say what a gateway has answered without its upstream, and the money.
func (r reading) savings() []Figure {
	cache := r.by(cacheName, "cache")
	stored, asked := int64(cache["hit"]+cache["join"]), int64(cache["miss"])
	list := []Figure{{"Not asked again", figures.Percent(figures.Share(stored, stored+asked)), figures.Count(stored) + " stored or equal to one in flight"}}
	for currency, cost := range r.by(upstreamCost, "currency") {
		list = append(list, Figure{"Cost", fmt.Sprintf("%.2f %s", cost, currency), fmt.Sprintf("saved: %.2f %s", r.by(upstreamSaved, "currency")[currency], currency)})
	}
	return list
}

// upstream are the figures of the upstream.
func (r reading) upstream() []Figure {
	attempts, failures := int64(r.value(upstreamAttempts)), int64(r.value(upstreamFailures))
	list := []Figure{
		{"Upstream", r.upstreamState(), "state"},
		{"Attempts", figures.Count(attempts), "at the upstream"},
		{"Failed", figures.Count(failures), "requests, in all attempts"},
		{"Waiting", figures.Number(r.value(waitingName)), "requests"},
		{"Refused", figures.Number(r.by(cacheName, "cache")["refused"]), "requests"},
		{"Limit", figures.Number(r.value(upstreamRate)) + "/s", "of the upstream, at present"},
	}
	if math.IsInf(r.value(upstreamRate), 1) {
		list[5].Value = "none"
	}
	if r[upstreamQuota] != nil {
		list = append(list, Figure{"Quota left", figures.Number(r.value(upstreamQuota)), "of the upstream's key"})
	}
	return list
}

// keys are the keys of colleagues, those of the most answers first.
func (r reading) keys() Table {
	t := Table{Title: "Keys", Wide: true, Share: "quota used", Empty: "No key has asked yet.",
		Columns: append(texts("key"), number("answers"), number("quota left"), number("waiting"))}
	used, left, calls, waits := r.by(answersName, "key"), r.by(quotaName, "key"), r.by(keyCallsName, "key"), r.by(keyWaitName, "key")
	limited := make(map[string]bool)
	for _, m := range r[quotaName] {
		limited[m.GetLabel()[0].GetValue()] = true
	}
	names := make(map[string]bool)
	for _, m := range r[answersName] {
		names[m.GetLabel()[0].GetValue()] = true
	}
	order := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b)) })
	for _, name := range order[:min(len(order), mostRows)] {
		quota, share, waiting := "no limit", -1.0, number(figures.Number(calls[name]))
		if limited[name] {
			quota, share = figures.Number(left[name]), figures.Share(int64(used[name]), int64(used[name]+left[name]))
		}
		if calls[name] > 0 {
			waiting.Detail = "for up to " + figures.Duration(time.Duration(waits[name]*float64(time.Second)))
		}
		t.Rows = append(t.Rows, append(texts(name), number(figures.Number(used[name])), number(quota), waiting))
		t.Shares = append(t.Shares, share)
	}
	if more := len(order) - mostRows; more > 0 {
		t.Rows, t.Shares = append(t.Rows, texts(fmt.Sprintf("and %d more", more), "", "", "")), append(t.Shares, -1)
	}
	return t
}

// operations are the requests by operation.
func operations(counts map[string]float64) Table {
	t := Table{Title: "Requests by operation", Wide: true, Columns: append(texts("operation"), number("requests")), Empty: "No request yet."}
	total := 0.0
	for _, n := range counts {
		total += n
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Rows = append(t.Rows, append(texts(name), number(figures.Number(counts[name]))))
		t.Shares = append(t.Shares, counts[name]/total)
	}
	return t
}
