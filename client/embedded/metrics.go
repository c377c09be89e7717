package embedded

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics count what a server does. Each server has its own registry.
type metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	operations map[string]operationMetrics // by name
}

// operationMetrics are those of one operation, looked up beforehand: that spares
// each request a hash of its labels.
type operationMetrics struct {
	byStatus map[int]prometheus.Counter
	duration prometheus.Observer
}

// statuses are those that operations answer with, as the package's documentation
// lists them.
var statuses = []int{
	http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusNotFound,
	http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
	http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// otherOperation counts what names none of the operations: pages, and paths that
// do not exist. Paths are no labels: strangers choose them.
const otherOperation = "other"

func newMetrics(all accounts, inFlight *atomic.Int64) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), operations: map[string]operationMetrics{}}
	m.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bulkcat_service_requests_total", Help: "Requests answered, by operation and HTTP status.",
	}, []string{"operation", "status"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "bulkcat_service_request_duration_seconds", Help: "Time to answer a request, by operation.",
		Buckets: prometheus.ExponentialBuckets(50e-6, 4, 10), // a title takes microseconds, a page up to some seconds
	}, []string{"operation"})
	for _, name := range []string{"usage", "website", "product", otherOperation} {
		op := operationMetrics{byStatus: map[int]prometheus.Counter{}, duration: duration.WithLabelValues(name)}
		for _, status := range statuses {
			op.byStatus[status] = m.requests.WithLabelValues(name, strconv.Itoa(status))
		}
		m.operations[name] = op
	}
	m.registry.MustRegister(m.requests, duration, quotaCollector{all.byName()},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "bulkcat_service_requests_in_flight", Help: "Requests being answered now.",
		}, func() float64 { return float64(inFlight.Load()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// observe counts a request. It takes no lock.
func (m *metrics) observe(o outcome, took time.Duration) {
	name := o.operation
	if name == "" {
		name = otherOperation
	}
	op := m.operations[name]
	op.duration.Observe(took.Seconds())
	if counter, ok := op.byStatus[o.status]; ok {
		counter.Inc()
		return
	}
	m.requests.WithLabelValues(name, strconv.Itoa(o.status)).Inc()
}

// metricsRequests bounds what reading metrics may cost.
const metricsRequests = 4

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError, // some metrics are better than none
		MaxRequestsInFlight: metricsRequests,
	})
}

// quotaCollector tells what keys have used and have left, by their names.
type quotaCollector struct{ accounts []*account }

var (
	answersDesc = prometheus.NewDesc("bulkcat_service_answers_total",
		"Answers given to a key, earlier runs of the service included where there is a journal.", []string{"key"}, nil)
	quotaDesc = prometheus.NewDesc("bulkcat_service_quota_remaining",
		"Answers left of a key's quota; keys without a quota are not listed.", []string{"key"}, nil)
)

// Describe lists the metrics.
func (c quotaCollector) Describe(to chan<- *prometheus.Desc) {
	to <- answersDesc
	to <- quotaDesc
}

// Collect reads the accounts.
func (c quotaCollector) Collect(to chan<- prometheus.Metric) {
	for _, a := range c.accounts {
		to <- prometheus.MustNewConstMetric(answersDesc, prometheus.CounterValue, float64(a.used.Load()), a.name)
		if !a.isUnlimited() {
			to <- prometheus.MustNewConstMetric(quotaDesc, prometheus.GaugeValue, float64(a.remaining()), a.name)
		}
	}
}
