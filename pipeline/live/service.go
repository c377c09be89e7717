package live

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// Service is the source of a service or a gateway. All figures are those of its metrics.
type Service struct {
	title   string
	started time.Time
	metrics *prometheus.Registry
	mu      sync.Mutex
	history history
}

// NewService makes the source of a service that begins now, with the registry of its metrics.
func NewService(title string, metrics *prometheus.Registry) *Service {
	return &Service{title: title, started: time.Now(), metrics: metrics}
}

// Metrics are those of the service.
func (s *Service) Metrics() prometheus.Gatherer { return s.metrics }

// Status is an object with a member for each metric of the service.
func (s *Service) Status() any {
	status := map[string]any{"started": s.started.UTC()}
	for _, m := range s.read().all {
		if math.IsInf(m.value, 0) || math.IsNaN(m.value) { // JSON has no such number
			continue
		}
		status[m.name+m.labels] = m.value
	}
	return status
}

// reading is the metrics at one moment.
type reading struct {
	all      []measured // without histograms, and without those of the process
	statuses map[string]int64
	bounds   []float64
	counts   []int64
	limit    float64 // of the requests of a gateway a second; 0 for none
}

type measured struct {
	name, labels string
	state        string // the label
	value        float64
}

// The metrics of the service that charts show.
const (
	requestsName  = "bulkcat_service_requests_total"
	durationName  = "bulkcat_service_request_duration_seconds"
	upstreamState = "bulkcat_gateway_upstream_state" // 1 for the label of the state
	upstreamRate  = "bulkcat_gateway_upstream_rate"
)

// upstreamWords say what a gateway does while its upstream is in a state other than "up".
var upstreamWords = map[string]string{
	"limited": "the upstream refuses requests for a while",
	"out":     "serving stored answers: the upstream does not answer",
	"blocked": "serving stored answers: the upstream refuses the API key, or its answers cannot be used",
	"spent":   "serving stored answers: the upstream's quota is used up",
}

// read gathers the metrics. A metric that cannot be gathered is left out.
func (s *Service) read() reading {
	families, _ := s.metrics.Gather() // with an error it has the other metrics
	r := reading{statuses: make(map[string]int64)}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "bulkcat_") {
			continue
		}
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				if f.GetName() == durationName {
					r.addDuration(h)
				}
				continue
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue() // a metric has one value, and the other is 0
			if f.GetName() == requestsName && value > 0 {
				r.statuses[label(m, "status")] += int64(value)
			}
			if f.GetName() == upstreamRate && !math.IsInf(value, 1) {
				r.limit = value
			}
			if f.GetName() != requestsName || value > 0 {
				r.all = append(r.all, measured{f.GetName(), labels(m), label(m, "state"), value})
			}
		}
	}
	return r
}

// addDuration adds a histogram; all have the same buckets.
func (r *reading) addDuration(h *dto.Histogram) {
	buckets := h.GetBucket()
	if r.counts == nil {
		r.counts = make([]int64, len(buckets)+1)
		for _, b := range buckets {
			r.bounds = append(r.bounds, b.GetUpperBound())
		}
	}
	before := int64(0)
	for i, b := range buckets {
		r.counts[i] += int64(b.GetCumulativeCount()) - before
		before = int64(b.GetCumulativeCount())
	}
	r.counts[len(buckets)] += int64(h.GetSampleCount()) - before
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

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

// Sample adds the metrics to the history.
func (s *Service) Sample() {
	r := s.read()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.add(sample{At: time.Now(), Counts: r.statuses, Allowed: r.limit, Latency: r.counts})
}

// View shows the metrics and the history.
func (s *Service) View() View {
	r := s.read()
	v := View{Title: s.title, State: "serving", Since: s.started, Figures: []Figure{{Name: "Requests", Value: figures.Count(sum(r.statuses))}}}
	table := Table{Title: "Metrics", Wide: true, Columns: append(texts("metric", "labels"), number("value")), Empty: "No request yet."}
	for _, m := range r.all {
		if words := upstreamWords[m.state]; m.name == upstreamState && m.value == 1 && words != "" {
			v.State, v.Trouble = words, true
		}
		name := strings.TrimSuffix(strings.TrimPrefix(m.name, "bulkcat_"), "_total")
		if m.labels == "" && len(v.Figures) < 12 {
			_, words, _ := strings.Cut(name, "_") // without "service" or "gateway"
			v.Figures = append(v.Figures, Figure{Name: strings.ReplaceAll(words, "_", " "), Value: figures.Number(m.value)})
			continue
		}
		table.Rows = append(table.Rows, append(texts(strings.ReplaceAll(name, "_", " "), strings.Trim(m.labels, "{}")), number(figures.Number(m.value))))
	}
	v.Tables = []Table{table}
	v.Settings = [][2]string{{"started", fmt.Sprint(s.started.Format(time.DateTime))}}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.Charts = charts(&s.history, r.statuses, r.bounds)
	return v
}
