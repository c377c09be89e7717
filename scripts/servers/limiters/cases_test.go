package limiters

import (
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// A limiter is one case.
type limiter struct {
	name    string
	start   start
	records int
	ideal   time.Duration
	status  []int         // of refusals
	block   time.Duration // how long the limiter refuses everything after a refusal
	refused float64       // share at most, after the time to learn
	answers time.Duration // how long the service takes for an answer; 0 for 20 ms
	phase   *phase        // when the run begins; nil for at once
	killed  time.Duration // after which a first run is killed; 0 for one run only
	flags   []string
}

// The shares of refused requests that the families of limiters may have.
const (
	bucket  = 0.015
	silent  = 0.03  // windows whose end is not stated
	stated  = 0.005 // windows whose end is stated
	counted = 0.02  // refused requests count
	blocks  = 0.01
	atOnce  = 0.02
)

// burst is the time in which the requests of a whole window are answered.
const burst = time.Second

// twoWindows are 600 requests at once, and nearly as many a minute later. The requests for usage
// count for some limiters.
func twoWindows(name string, start start, refused float64, status ...int) limiter {
	return limiter{name: name, start: start, records: 1190, ideal: time.Minute + burst, refused: refused, status: status}
}

// estimated are 600 requests at once, and ten a second when a minute has passed.
func estimated(name string, start start, refused float64, status ...int) limiter {
	return limiter{name: name, start: start, records: 800, ideal: 80 * time.Second, refused: refused, status: status}
}

// tenPerSecond are 800 requests at 10 a second.
func tenPerSecond(name string, start start, refused float64, status ...int) limiter {
	return limiter{name: name, start: start, records: 800, ideal: 79 * time.Second, refused: refused, status: status}
}

// blocked is tenPerSecond with a block of ten seconds after a refusal.
func blocked(name string, start start, status ...int) limiter {
	c := tenPerSecond(name, start, blocks, status...)
	c.block = 10 * time.Second
	return c
}

// evaded are 1,500 requests at 20 a second with a block of ten seconds, which each request prolongs.
func evaded(name string, status int) limiter {
	directives := fmt.Sprintf("DOSPageCount 20\nDOSBlockingPeriod 10\nDOSHTTPResponseCode %d", status)
	c := blocked(name, evasive(directives), status)
	c.records, c.ideal = 1500, 75*time.Second
	return c
}

// eightAtOnce are requests of 50 ms, 8 at the same time. With the 20 ms of the other cases, the
// time that the proxies need would be a tenth of the ideal.
func eightAtOnce(name string, start start, status ...int) limiter {
	return limiter{
		name: name, start: start, records: 9600, ideal: time.Minute, refused: atOnce, status: status,
		answers: 50 * time.Millisecond,
	}
}

func cases() []limiter {
	manyPerSecond := tenPerSecond("HAProxy 100/s, refused count", haproxy("1s", "100"), counted, 429)
	manyPerSecond.records *= 10
	slow := tenPerSecond("django-ratelimit 10/s, 403, answers of 1 s", django("10/s", "1", "0"), silent, 403)
	slow.ideal += time.Second
	resumed := evaded("mod_evasive 20/s, block 10 s, 403, resumed in the block", 403)
	resumed.killed = 2 * time.Second
	waiting := twoWindows("quota of 600 for 90 s, --wait-for-quota", all(withQuota), silent, 429)
	waiting.ideal, waiting.flags = quotaPeriod+burst, []string{"--wait-for-quota"}
	return []limiter{
		evaded("mod_evasive 20/s, block 10 s, 429", 429),
		evaded("mod_evasive 20/s, block 10 s, 403", 403),
		resumed,
		blocked("rate-limiter-flexible 10/s, block 10 s", node("flexible.js", "10", "1", "silent"), 429),
		blocked("rate-limiter-flexible 10/s, block 10 s, Retry-After", node("flexible.js", "10", "1", "stated"), 429),
		tenPerSecond("Varnish vsthrottle 10/s", varnish("10, 1s"), bucket, 429),
		blocked("Varnish vsthrottle 10/s, block 10 s", varnish("10, 1s, 10s"), 429),
		tenPerSecond("tollbooth 10/s", categorizations(withTollbooth), bucket, 429),
		estimated("httprate (chi) 600/min", categorizations(withHTTPRate), stated, 429),
		manyPerSecond,
		estimated("HAProxy 600/min, refused count", haproxy("60s", "600"), counted, 429),
		twoWindows("express-rate-limit 600/min, draft-6", express("draft-6"), stated, 429),
		twoWindows("express-rate-limit 600/min, draft-7", express("draft-7"), stated, 429),
		twoWindows("express-rate-limit 600/min, draft-8", express("draft-8"), stated, 429),
		twoWindows("express-rate-limit 600/min, X-RateLimit", express("legacy"), stated, 429),
		twoWindows("hono-rate-limiter 600/min, draft-6", node("hono.js", "600", "60", "draft-6"), stated, 429),
		twoWindows("hono-rate-limiter 600/min, draft-7", node("hono.js", "600", "60", "draft-7"), stated, 429),
		twoWindows("@fastify/rate-limit 600/min", node("fastify.js", "600", "60", "-1"), stated, 429),
		twoWindows("@fastify/rate-limit 600/min, 403 after 3 refusals", node("fastify.js", "600", "60", "3"), stated, 429, 403),
		twoWindows("ulule/limiter 600/min", categorizations(withUlule), stated, 429),
		twoWindows("ulule/limiter 600/min on all paths, bucket4j's body", all(likeBucket4j), silent, 429),
		twoWindows("slowapi 600/min", python("with_slowapi.py", "600/minute", "0.02", "0"), silent, 429),
		twoWindows("Flask-Limiter 600/min", python("with_flask.py", "600/minute", "0.02", "0"), silent, 429),
		twoWindows("django-ratelimit 600/min, 429", django("600/m", "0.02", "429"), silent, 429).begins(djangosWindow),
		twoWindows("django-ratelimit 600/min, 403", django("600/m", "0.02", "0"), silent, 403).begins(djangosWindow),
		slow,
		twoWindows("mod_qos 600/min, 500", qos("QS_ClientEventLimitCount 600 60"), silent, 500),
		twoWindows("mod_qos 600/min, 429", qos("QS_ClientEventLimitCount 600 60\nQS_ErrorResponseCode 429"), silent, 429),
		waiting,
		eightAtOnce("mod_qos 8 at once, 503", qos("QS_LocRequestLimit /api/v1 8\nQS_ErrorResponseCode 503"), 503),
		eightAtOnce("chi's Throttle 8 at once, 503", categorizations(withThrottle), 503),
		eightAtOnce("Squid maxconn 8, 403", squid("acl many maxconn 8\nhttp_access deny many\nhttp_access allow all"), 403),
	}
}

func django(rate, latency, status string) start {
	return python("with_django.py", rate, latency, status)
}

func express(headers string) start { return node("express.js", "600", "60", headers) }

// A phase is a time within a period of the clock.
type phase struct{ period, at time.Duration }

// djangosWindow is the begin of a minute of django-ratelimit's: a checksum of the key shifts it, and
// the second in which a window ends belongs to that window.
var djangosWindow = phase{time.Minute, time.Duration(crc32.ChecksumIEEE([]byte(run.Key))%60+1) * time.Second}

func (c limiter) begins(p phase) limiter {
	c.phase = &p
	return c
}

// wait returns the time from now until the phase.
func (p *phase) wait(now time.Time) time.Duration {
	if p == nil {
		return 0
	}
	since := time.Duration(now.UnixNano()) - p.at
	return (p.period - since%p.period) % p.period
}

// latency is that of the service behind the proxies.
func (c limiter) latency() time.Duration { return max(c.answers, 20*time.Millisecond) }

func TestPhase(t *testing.T) {
	p := phase{time.Minute, 42 * time.Second}
	for second, want := range map[int64]time.Duration{0: 42, 41: 1, 42: 0, 43: 59} {
		if got := p.wait(time.Unix(600+second, 0)); got != want*time.Second {
			t.Errorf("second %d: %v, not %v", second, got, want*time.Second)
		}
	}
}

// TestCases expects cases with different names, and marks that a run can reach.
func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range cases() {
		if names[c.name] {
			t.Errorf("two cases have the name %s", c.name)
		}
		names[c.name] = true
		if c.ideal < time.Minute || c.ideal > 100*time.Second || c.records == 0 || c.refused == 0 || len(c.status) == 0 {
			t.Errorf("%s: %d records in %v, %v refused", c.name, c.records, c.ideal, c.refused)
		}
	}
}
