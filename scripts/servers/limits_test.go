package servers

import (
	"fmt"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// The limit, the records and the latency of most cases.
const (
	perSecond = 300
	records   = 6000
)

var ordinary = clienttest.Options{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}

// patient returns the time that a run may take: a quarter and 3 seconds more than the ideal,
// for learning what the servers allow.
func patient(ideal time.Duration) time.Duration { return ideal*5/4 + 3*time.Second }

func idealOf(records int, perSecond float64) time.Duration {
	return time.Duration(float64(records) / perSecond * float64(time.Second))
}

// zone is the directive that limit_req refers to.
func zone(perSecond int) string {
	return fmt.Sprintf("limit_req_zone $http_x_api_key zone=keys:1m rate=%dr/s;", perSecond)
}

// limited is a plan with a rate limit of nginx.
func limited(records int, location string) plan {
	ideal := idealOf(records, perSecond)
	return plan{
		records: records, service: ordinary,
		nginx: &nginxConfig{HTTP2: true, HTTP: zone(perSecond), Location: location},
		ideal: ideal, atMost: patient(ideal), warnings: 3, refused: 0.02,
	}
}

// connections is a plan with a limit of the requests that are answered at the same time.
func connections(limit int, http2 bool) plan {
	ideal := idealOf(records, float64(limit)/0.025)
	return plan{
		records: records, service: ordinary,
		nginx: &nginxConfig{
			HTTP2:    http2,
			HTTP:     "limit_conn_zone $http_x_api_key zone=connections:1m;",
			Location: fmt.Sprintf("limit_conn connections %d;", limit),
		},
		ideal: ideal, atMost: patient(ideal), warnings: 3, refused: 0.05,
	}
}

// unlimited is a plan with nginx and no limit; the target is not that of a rate.
func unlimited(records int, ideal time.Duration, config nginxConfig) plan {
	return plan{
		records: records, service: ordinary, nginx: &config,
		ideal: ideal, atMost: patient(ideal), warnings: 3, refused: 0.02,
	}
}

func of(p plan) func(*testing.T, *line) {
	return func(t *testing.T, row *line) { perform(t, row, p) }
}

func limits() []scenario {
	emptyBody := func(status int) plan {
		p := limited(records, "limit_req zone=keys burst=30 nodelay; error_page 503 = @empty;")
		p.nginx.Server = fmt.Sprintf(`location @empty { default_type ""; return %d ""; }`, status)
		return p
	}
	keepAlive := func(http2 bool, requests int) nginxConfig {
		return nginxConfig{HTTP2: http2, Server: fmt.Sprintf("keepalive_requests %d;", requests)}
	}
	slowBody := unlimited(records, idealOf(records, perSecond), nginxConfig{HTTP2: true, Location: "limit_rate 80k;"})
	slowBody.service.Padding = 8 << 10
	manyConnections := limited(records, "limit_req zone=keys burst=30 nodelay; limit_req_status 429;")
	manyConnections.nginx.HTTP2, manyConnections.nginx.Server = false, "keepalive_requests 10;"
	short := unlimited(3000, 1200*time.Millisecond, keepAlive(true, 100))
	short.atMost = 8 * time.Second // on a machine that does other work too
	return []scenario{
		{"A01 keepalive_requests 100, HTTP2, no limit", false, of(unlimited(20_000, 8*time.Second, keepAlive(true, 100)))},
		{"A01s keepalive_requests 100, HTTP2, 3,000 records", true, of(short)},
		{"A02 limit_req, 429", false, of(limited(records, "limit_req zone=keys burst=30 nodelay; limit_req_status 429;"))},
		{"A03 limit_req, 503", false, of(limited(records, "limit_req zone=keys burst=30 nodelay;"))},
		{"A03s limit_req, 503, 1,500 records", true, of(limited(1500, "limit_req zone=keys burst=30 nodelay;"))},
		{"A04 limit_req with a queue, 503", false, of(limited(records, "limit_req zone=keys burst=60;"))},
		{"A05 limit_req delay=30, 503", false, of(limited(records, "limit_req zone=keys burst=60 delay=30;"))},
		{"A06 limit_req, 503 with an empty body", false, of(emptyBody(503))},
		{"A07 limit_req, 429 with an empty body", false, of(emptyBody(429))},
		{"A08 limit_conn 16, HTTP2", false, of(connections(16, true))},
		{"A08b limit_conn 16, HTTP1", false, of(connections(16, false))},
		{"A09 limit_conn 4, HTTP1", false, of(connections(4, false))},
		{"A09b limit_conn 4, HTTP2", false, of(connections(4, true))},
		{"A10 limit_rate, 100 ms more", false, of(slowBody)},
		{"A11 keepalive_requests 10, HTTP1", false, of(manyConnections)},
	}
}
