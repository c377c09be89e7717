package servers

import (
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// pairs is the case of two runs on one key.
func pairs() []scenario {
	return []scenario{{"D two runs on one key", false, sideBySide}}
}

// sideBySide expects that two runs use the limit together, and that neither starves.
func sideBySide(t *testing.T, row *line) {
	p := limited(records, limit503)
	p.ideal *= 2
	p.atMost = patient(p.ideal)
	p.refused = 0.05 // each run probes beside the probes of the other
	s := newStage(t, p)
	a, b := p, p
	a.prefix, b.prefix = "a", "b"
	runs := []plan{a, b}
	first, second := a.start(t, s), b.start(t, s)
	results := []result{{Result: first.Wait(t)}, {Result: second.Wait(t)}}
	all := arrivals(t, s)
	for i := range results {
		results[i].stage, results[i].arrivals = s, having(runs[i].prefix, all)
		runs[i].compare(t, row, results[i])
	}
	from, to := both(results)
	if together := served(all, from, to); together < 0.95*perSecond {
		t.Errorf("%.1f/s served while both run, at least %.1f", together, 0.95*perSecond)
	}
	for i, o := range results {
		share := served(o.arrivals, from, to)
		t.Logf("run %s: %.1f/s served while both run", runs[i].prefix, share)
		if share < perSecond/3 {
			t.Errorf("run %s: %.1f/s served while both run, at least %d", runs[i].prefix, share, perSecond/3)
		}
	}
}

// having returns the arrivals of the inputs with a prefix.
func having(prefix string, all []arrival) []arrival {
	var some []arrival
	for _, a := range all {
		if strings.HasPrefix(strings.TrimPrefix(a.input, "https://"), prefix) {
			some = append(some, a)
		}
	}
	return some
}

// both returns the interval from the first arrival of the later run to the last arrival of
// the run that ends first.
func both(runs []result) (from, to time.Time) {
	for i, o := range runs {
		if len(o.arrivals) == 0 {
			return time.Time{}, time.Time{}.Add(time.Second)
		}
		first, last := o.arrivals[0].at, o.arrivals[len(o.arrivals)-1].at
		if i == 0 || first.After(from) {
			from = first
		}
		if i == 0 || last.Before(to) {
			to = last
		}
	}
	return from, to
}

// speeds compares TLS and HTTP/2 with plain HTTP, all without a limit.
func speeds() []scenario {
	return []scenario{{"E plain HTTP, TLS over HTTP1, HTTP2 with 128 streams", false, protocols}}
}

// protocols expects TLS and HTTP/2 within 15% of the time of plain HTTP.
func protocols(t *testing.T, row *line) {
	var plain time.Duration
	for i, config := range []nginxConfig{
		{Plain: true},
		{},
		{HTTP2: true, Server: "http2_max_concurrent_streams 128;"},
	} {
		config.Server += " keepalive_requests 100000;"
		p := plan{
			records: 20_000, nginx: &config, warnings: 3, flags: []string{"--workers", "512"},
			service: clienttest.Options{Latency: 20 * time.Millisecond},
			atMost:  plain * 115 / 100,
		}
		if o := perform(t, row, p); i == 0 {
			plain = o.Took
		}
	}
}

// descriptors compares a run that may open 64 files with a run that may open 256.
func descriptors() []scenario {
	return []scenario{{"J ulimit -n 256, then 64", false, fewDescriptors}}
}

func fewDescriptors(t *testing.T, row *line) {
	const outWords = "the service is out"
	p := limited(3000, limit503+" limit_req_status 429;")
	p.nginx.HTTP2 = false // so that each request in flight needs a connection
	p.descriptors = 256
	many := perform(t, row, p)
	p.descriptors, p.atMost = 64, 2*many.Took
	few := perform(t, row, p)
	if strings.Contains(many.Log, outWords) || strings.Contains(few.Log, outWords) {
		t.Errorf("the log says %q", outWords)
	}
}

// latencies is the case of a service that takes 10 seconds for an answer.
func latencies() []scenario {
	p := direct(5000, clienttest.Options{
		Latency: 10 * time.Second, RefusesAtOnce: true,
		Limiter: &clienttest.Bucket{Rate: 100, Burst: 30}, Refusal: clienttest.Refusal{Style: clienttest.Seconds},
	}, 105*time.Second) // the number in flight grows fivefold with the answers: three times until it allows the rate
	p.ideal = 60 * time.Second
	return []scenario{{"K 10 s an answer, 100 a second allowed", false, of(p)}}
}
