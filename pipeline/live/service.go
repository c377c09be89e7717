package live

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Service is the Source of a service or a gateway. All figures come from its metrics.
type Service struct {
	title   string
	started time.Time
	metrics *prometheus.Registry
	history history
}

// NewService returns the source of a service that begins now, with the registry of its metrics.
func NewService(title string, metrics *prometheus.Registry) *Service {
	return &Service{title: title, started: time.Now(), metrics: metrics}
}

// Metrics returns the metrics of the service.
func (s *Service) Metrics() prometheus.Gatherer { return s.metrics }

// Status returns a map with a member for each metric of the service, except histograms.
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

// The metrics from which the page computes figures. service.html has the names of other metrics.
const (
	requestsName = "bulkcat_service_requests_total"
	durationName = "bulkcat_service_request_duration_seconds"
	answersName  = "bulkcat_service_answers_total"
	quotaName    = "bulkcat_service_quota_remaining"

	keyCallsName     = "bulkcat_gateway_key_waiting_requests"
	keyWaitName      = "bulkcat_gateway_key_wait_seconds"
	upstreamState    = "bulkcat_gateway_upstream_state" // 1 for the label of the state
	upstreamRate     = "bulkcat_gateway_upstream_rate"
	upstreamDuration = "bulkcat_gateway_upstream_duration_seconds"
)

// upstreamWords describe a gateway whose upstream is in a state other than "up".
var upstreamWords = map[string]string{
	"limited": "the upstream refuses requests for a while",
	"out":     "serving stored answers: the upstream does not answer",
	"blocked": "serving stored answers: the upstream refuses the API key, or its answers cannot be used",
	"spent":   "serving stored answers: the upstream's quota is used up",
}

// reading has the metrics of the service at one moment, by name, without the metrics of the process.
type reading map[string][]*dto.Metric

func (s *Service) read() reading {
	families, _ := s.metrics.Gather() // despite an error, Gather returns the other metrics
	r := make(reading)
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "bulkcat_") {
			r[f.GetName()] = f.GetMetric()
		}
	}
	return r
}

// By returns the sums of a metric by a label.
func (r reading) By(name, label string) map[string]float64 {
	sums := make(map[string]float64)
	for _, m := range r[name] {
		for _, l := range m.GetLabel() {
			if l.GetName() == label {
				sums[l.GetValue()] += valueOf(m)
			}
		}
	}
	return sums
}

// Value returns the sum of a metric; 0 for none.
func (r reading) Value(name string) (sum float64) {
	for _, m := range r[name] {
		sum += valueOf(m)
	}
	return sum
}

// Counts returns the number of requests by a label, such as status, the HTTP status.
func (r reading) Counts(label string) map[string]int64 {
	counts := make(map[string]int64)
	for value, n := range r.By(requestsName, label) {
		if n > 0 {
			counts[value] = int64(n)
		}
	}
	return counts
}

// latency returns the histogram of the attempts at the upstream or, without an upstream, of the requests.
func (r reading) latency() (bounds []float64, counts []int64) {
	histograms := r[upstreamDuration]
	if histograms == nil {
		histograms = r[durationName]
	}
	for _, m := range histograms {
		h := m.GetHistogram()
		if counts == nil { // all histograms have the same buckets
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

// valueOf returns the value of a counter or a gauge.
func valueOf(m *dto.Metric) float64 { return m.GetCounter().GetValue() + m.GetGauge().GetValue() }

// labels formats the labels as Prometheus does; "" for none.
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

// upstreamWaits maps states of the upstream in which a gateway waits to states of a run, for the charts.
var upstreamWaits = map[string]account.State{
	"limited": account.Limited, "out": account.Outage, "blocked": account.Outage, "spent": account.QuotaPause,
}

// Sample adds the metrics to the history.
func (s *Service) Sample() {
	r := s.read()
	_, latency := r.latency()
	s.history.add(sample{At: time.Now(), State: upstreamWaits[r.UpstreamState()], Counts: r.Counts("status"), Allowed: r.Value(upstreamRate), Latency: latency})
}

// View returns the metrics and the history.
func (s *Service) View() View {
	r := s.read()
	v := View{Title: s.title, State: "serving", Since: s.started, Started: s.started, Service: &r}
	if words := upstreamWords[r.UpstreamState()]; words != "" {
		v.State, v.Since, v.Trouble = words, s.history.inState(), true
	}
	unit := "of requests"
	if r[upstreamState] != nil {
		unit = "of attempts at the upstream"
	}
	bounds, _ := r.latency()
	v.Charts = s.history.charts(r.Counts("status"), unit, bounds)
	return v
}

// UpstreamState returns the state of the upstream; "" for a service without an upstream.
func (r reading) UpstreamState() string {
	for state, is := range r.By(upstreamState, "state") {
		if is > 0 {
			return state
		}
	}
	return ""
}

// key is a key of a user of the gateway.
type key struct {
	Name       string
	Used, Left float64 // answers
	Limited    bool    // there is a quota
	Waiting    float64 // requests
	Longest    float64 // the longest wait so far, in seconds
}

// Keys returns the keys, the key with the most answers first.
func (r reading) Keys() (list []key) {
	left, waiting, longest := r.By(quotaName, "key"), r.By(keyCallsName, "key"), r.By(keyWaitName, "key")
	for name, used := range r.By(answersName, "key") {
		rest, limited := left[name]
		list = append(list, key{name, used, rest, limited, waiting[name], longest[name]})
	}
	slices.SortFunc(list, func(a, b key) int { return cmp.Or(cmp.Compare(b.Used, a.Used), cmp.Compare(a.Name, b.Name)) })
	return list
}
