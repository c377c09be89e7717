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
	for _, g := range []struct {
		name, label, value string
		number             float64
	}{
		{answersName, "key", "alice", 1500}, {answersName, "key", "bob", 7}, {quotaName, "key", "alice", 500}, {keyCallsName, "key", "alice", 3}, {keyWaitName, "key", "alice", 2},
		{"bulkcat_gateway_requests_total", "cache", "hit", 5}, {"bulkcat_gateway_requests_total", "cache", "join", 1}, {"bulkcat_gateway_requests_total", "cache", "miss", 4},
		{"bulkcat_gateway_upstream_cost_total", "currency", "EUR", 8.25}, {"bulkcat_gateway_upstream_saved_total", "currency", "EUR", 2}, {upstreamRate, "", "", 50}, {"bulkcat_gateway_upstream_wait_seconds", "", "", 5},
	} {
		labels := prometheus.Labels{}
		if g.label != "" {
			labels[g.label] = g.value
		}
		gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: g.name, ConstLabels: labels})
		gauge.Set(g.number)
		metrics.MustRegister(gauge)
	}
	state.WithLabelValues("out").Set(1)
	state.WithLabelValues("up").Set(0)
	s := NewService("bulkcat serve 127.0.0.1:8080", metrics)
	s.Sample()
	secondAgo := time.Now().Add(-time.Second)
	s.history.samples[0].At, s.history.last.At, s.history.since = secondAgo, secondAgo, secondAgo
	requests.WithLabelValues("website", "200").Add(40)
	requests.WithLabelValues("product", "200").Add(2)
	requests.WithLabelValues("product", "429").Add(5)
	duration.WithLabelValues("website").Observe(0.05)
	duration.WithLabelValues("product").Observe(0.5)

	s.Sample()
	v := s.View()
	if !v.Trouble || !strings.Contains(v.State, "upstream") || v.Since != secondAgo {
		t.Errorf("the page does not say that the upstream is out since %v: %q since %v", secondAgo, v.State, v.Since)
	}
	if c := v.Charts[0]; len(c.Bands) != 1 || c.Bands[0].Class != "outage" || len(c.Key) != 1 || c.Key[0].Text != "outage 1s" {
		t.Errorf("the bands are %+v with the key %+v", c.Bands, c.Key)
	}
	for _, c := range v.Charts {
		if median := c.Lines[0].Values[0]; c.Title == "Latency" && (median < 50 || median > 200) {
			t.Errorf("the median of 50 ms and 500 ms: %v ms", median)
		}
		if c.Title == "Requests" && (len(c.Lines) != 3 || c.Lines[0].Name != "200") {
			t.Errorf("requests: %+v", c.Lines)
		}
	}
	if text, want := textOf("tables", v), "| alice | 1,500 | 500 | 3 | for up to 2s | 75.0% |"; !strings.Contains(text, want) || !strings.Contains(text, "| bob | 7 | no limit | 0 | Requests") {
		t.Errorf("the tables are %s", text)
	}
	text := textOf("state", v) + textOf("figures", v)
	for _, want := range []string{"asked again in 5s", "| Requests | 47 |", "| Not asked again | 60.0% |", "| Cost | 8.25 EUR | saved: 2.00 EUR", "| Upstream | out | state", "| Limit | 50/s |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q: %s", want, text)
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

func TestServiceWithoutRequests(t *testing.T) {
	v := NewService("bulkcat serve", prometheus.NewRegistry()).View()
	if got, want := textOf("state", v)+textOf("figures", v)+textOf("tables", v), "| Requests | 0 | 0 in flight |"; !strings.Contains(got, want) || !strings.Contains(got, "No key has asked yet. ") {
		t.Errorf("got %s", got)
	}
}
