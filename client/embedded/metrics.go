package embedded

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bulkcat/bulkcat/client/internal/fair"
)

// metrics are the counters of a server. Each server has its own registry.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// statuses are the statuses in the package's documentation.
var statuses = []int{
	http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusNotFound,
	http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
	http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// otherOperation is the label of pages and unknown paths. Paths are not labels, because clients
// choose them.
const otherOperation = "other"

func newMetrics(s *Service, registry *prometheus.Registry, inFlight *atomic.Int64, places *fair.Places) *metrics {
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	m := &metrics{registry: registry}
	m.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bulkcat_service_requests_total", Help: "Requests answered, by operation and HTTP status.",
	}, []string{"operation", "status"})
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "bulkcat_service_request_duration_seconds", Help: "Time to answer a request, by operation.",
		Buckets: prometheus.ExponentialBuckets(50e-6, 4, 10), // a title takes microseconds, a page some seconds
	}, []string{"operation"})
	counted := statuses
	if s.opts.Backend != nil {
		counted = append(slices.Clone(statuses), http.StatusBadGateway) // of the backend: see the package gateway
	}
	for _, name := range []string{"usage", "website", "product", otherOperation} {
		m.duration.WithLabelValues(name)
		for _, status := range counted {
			m.requests.WithLabelValues(name, strconv.Itoa(status)) // shown before the first request
		}
	}
	m.registry.MustRegister(m.requests, m.duration, keyCollector{s, places},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "bulkcat_service_requests_in_flight", Help: "Requests being answered now.",
		}, func() float64 { return float64(inFlight.Load()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.opts.Backend != nil {
		m.registry.MustRegister(s.opts.Backend)
	}
	return m
}

// observe counts a request.
func (m *metrics) observe(o access, took time.Duration) {
	name := cmp.Or(o.operation, otherOperation)
	m.duration.WithLabelValues(name).Observe(took.Seconds())
	m.requests.WithLabelValues(name, strconv.Itoa(o.status)).Inc()
}

// metricsRequests is the most concurrent requests for metrics.
const metricsRequests = 4

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError, // some metrics are better than none
		MaxRequestsInFlight: metricsRequests,
	})
}

// keyCollector collects the usage of keys, by their names.
type keyCollector struct {
	service *Service
	places  *fair.Places
}

// Describe describes no metric: the metrics depend on the keys.
func (c keyCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the usage of keys.
func (c keyCollector) Collect(to chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, name, help string, value int64, key *Key) {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("bulkcat_service_"+name, help, []string{"key"}, nil), kind, float64(value), key.Name())
	}
	for _, a := range c.service.keys.byName() {
		held, waiting := c.places.Of(a)
		if b := c.service.opts.Backend; b != nil {
			waiting += b.Waiting(a)
		}
		send(prometheus.GaugeValue, "key_requests_in_flight", "Requests of a key that are being answered now.", int64(held), a)
		send(prometheus.GaugeValue, "key_requests_waiting", "Requests of a key that wait to be answered, or to be asked of the upstream.", int64(waiting), a)
		send(prometheus.CounterValue, "answers_total", "Answers given to a key in the period of its quota; answers of earlier runs count if the service keeps the used quota.", a.usage().answers, a)
		if left := a.left(); left != Unlimited {
			send(prometheus.GaugeValue, "quota_remaining", "Answers left of a key's quota; keys without a quota are not listed.", int64(left), a)
		}
	}
}
