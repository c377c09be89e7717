package gateway

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters of a gateway. The numbers of answers and of quota by key are metrics of the
// service.
type metrics struct {
	hits, misses, joined, refused atomic.Int64 // requests
	attempts                      atomic.Int64
	failed                        atomic.Int64 // calls
	took                          prometheus.Histogram
}

func newMetrics() metrics {
	return metrics{took: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "bulkcat_gateway_upstream_duration_seconds", Help: "Time of an attempt at the upstream.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 15), // up to 82 seconds: a slow service calculates an answer
	})}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bulkcat_gateway_"+name, help, labels, nil)
}

var (
	requestsDesc = desc("requests_total", "Requests, by what the gateway did: hit (stored), miss (asked), join (equal request in flight) or refused.", "cache")
	attemptsDesc = desc("upstream_attempts_total", "Attempts at the upstream.")
	savedDesc    = desc("upstream_saved_total", "What the requests would have cost that the store, or another request in flight, has answered.", "currency")
	costDesc     = desc("upstream_cost_total", "What the attempts at the upstream cost, in units of the currency.", "currency")
	failedDesc   = desc("upstream_failures_total", "Requests that the upstream did not answer in all attempts.")
	rateDesc     = desc("upstream_rate", "The present limit of attempts at the upstream, in requests a second.")
	quotaDesc    = desc("upstream_quota_remaining", "What the upstream's key may still ask, as told in the last minute; absent if unlimited or unknown.")
	stateDesc    = desc("upstream_state", "1 for the state of the upstream, 0 for the others: up, limited, out, blocked (the key is refused, or the answers cannot be used) or spent (no quota).", "state")
	nextDesc     = desc("upstream_wait_seconds", "Time until the upstream is asked again; 0 while it is asked.")
	waitingDesc  = desc("waiting_requests", "Requests that wait for an attempt or a retry.")
	keyCallsDesc = desc("key_waiting_requests", "Requests of a key that wait for an answer of the upstream.", "key")
	keyWaitDesc  = desc("key_wait_seconds", "How long the oldest of these requests waits.", "key")
)

// Describe describes no metric: the metrics depend on the keys and the price.
func (g *Gateway) Describe(chan<- *prometheus.Desc) {}

// keyWait are the calls of a key, and how long the oldest one waits.
type keyWait struct {
	calls   int
	longest time.Duration
}

// Collect reads the counters and the state of the upstream.
func (g *Gateway) Collect(to chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n *atomic.Int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n.Load()), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	m := &g.metrics
	count(requestsDesc, &m.hits, "hit")
	count(requestsDesc, &m.misses, "miss")
	count(requestsDesc, &m.joined, "join")
	count(requestsDesc, &m.refused, "refused")
	count(attemptsDesc, &m.attempts)
	if p := g.options.Price; p.Request > 0 {
		to <- prometheus.MustNewConstMetric(costDesc, prometheus.CounterValue, p.Of(m.attempts.Load()).Units(), p.Currency)
		to <- prometheus.MustNewConstMetric(savedDesc, prometheus.CounterValue, p.Of(m.hits.Load()+m.joined.Load()).Units(), p.Currency)
	}
	count(failedDesc, &m.failed)
	m.took.Collect(to)
	gauge(rateDesc, g.limits.Rate())
	if usage, ok := g.standing.Told(); ok {
		if left, ok := usage.Requests(); ok {
			gauge(quotaDesc, float64(left))
		}
	}
	now := time.Now()
	keys := make(map[string]*keyWait)
	g.mu.Lock()
	upstream, waiting := g.refresh(now), g.queue.Len()+g.dispatcher.Len()
	for _, c := range g.calls {
		k := keys[c.key.Name()]
		if k == nil {
			k = new(keyWait)
			keys[c.key.Name()] = k
		}
		k.calls, k.longest = k.calls+1, max(k.longest, now.Sub(c.came))
	}
	g.mu.Unlock()
	for name, k := range keys {
		gauge(keyCallsDesc, float64(k.calls), name)
		gauge(keyWaitDesc, k.longest.Seconds(), name)
	}
	for _, state := range States {
		is := 0.0
		if state == upstream.state {
			is = 1
		}
		gauge(stateDesc, is, string(state))
	}
	gauge(nextDesc, max(0, upstream.next.Sub(now)).Seconds())
	gauge(waitingDesc, float64(waiting))
}
