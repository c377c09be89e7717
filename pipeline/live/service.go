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
}

type measured struct {
	name, labels string
	value        float64
}

// The metrics of the service that charts show.
const (
	requestsName = "bulkcat_service_requests_total"
	durationName = "bulkcat_service_request_duration_seconds"
	upstreamUp   = "bulkcat_gateway_upstream_up"
)

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
			if f.GetName() != requestsName || value > 0 {
				r.all = append(r.all, measured{f.GetName(), labels(m), value})
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

// View shows the metrics, and adds them to the history.
func (s *Service) View() View {
	r, now := s.read(), time.Now()
	v := View{Title: s.title, State: "serving", Since: s.started, Figures: []Figure{{Name: "Requests", Value: figures.Count(sum(r.statuses))}}}
	table := Table{Title: "Metrics", Wide: true, Columns: append(texts("metric", "labels"), number("value")), Empty: "No request yet."}
	limit := 0.0
	for _, m := range r.all {
		if m.name == upstreamUp && m.value == 0 {
			v.State, v.Trouble = "serving stored answers: the upstream does not answer", true
		}
		if m.name == "bulkcat_gateway_upstream_rate" && !math.IsInf(m.value, 1) {
			limit = m.value
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
	s.history.add(sample{At: now, Counts: r.statuses, Allowed: limit, Latency: r.counts})
	v.Charts = charts(&s.history, r.statuses, r.bounds)
	return v
}
