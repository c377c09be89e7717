package live

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestServiceShowsItsMetrics(t *testing.T) {
	metrics := prometheus.NewRegistry()
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: requestsName}, []string{"operation", "status"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: durationName, Buckets: []float64{0.1, 1}}, []string{"operation"})
	state := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: upstreamState}, []string{"state"})
	metrics.MustRegister(requests, duration, state)
	state.WithLabelValues("out").Set(1)
	state.WithLabelValues("up").Set(0)
	s := NewService("bulkcat serve 127.0.0.1:8080", metrics)
	s.Sample()
	s.history.samples[0].At = time.Now().Add(-time.Second)
	requests.WithLabelValues("website", "200").Add(40)
	requests.WithLabelValues("product", "200").Add(2)
	requests.WithLabelValues("product", "429").Add(5)
	duration.WithLabelValues("website").Observe(0.05)
	duration.WithLabelValues("product").Observe(0.5)

	s.Sample()
	v := s.View()
	if v.Figures[0].Value != "47" {
		t.Errorf("requests: %+v", v.Figures)
	}
	if !v.Trouble || !strings.Contains(v.State, "upstream") {
		t.Errorf("the page does not say that the upstream is out: %q", v.State)
	}
	for _, c := range v.Charts {
		if median := c.Lines[0].Values[0]; c.Title == "Latency" && (median < 50 || median > 200) {
			t.Errorf("the median of 50 ms and 500 ms: %v ms", median)
		}
		if c.Title == "Requests" && (len(c.Lines) != 2 || c.Lines[0].Name != "200") {
			t.Errorf("requests: %+v", c.Lines)
		}
	}
	state.WithLabelValues("out").Set(0)
	state.WithLabelValues("up").Set(1)
	if v := s.View(); v.Trouble {
		t.Errorf("the page says %q with an upstream that answers", v.State)
	}
	status := s.Status().(map[string]any)
	if status[requestsName+`{operation="product",status="429"}`] != 5.0 {
		t.Errorf("status: %v", status)
	}
}
