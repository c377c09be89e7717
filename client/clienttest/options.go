package clienttest

import "time"

// Options describe the faults and the limits of a service. The zero value has none.
type Options struct {
	// Answer appends the body of an answer; nil for Value(input) and one more category.
	Answer func(dst []byte, classification, input string) []byte
	// Drifted replaces Answer after DriftsAfter charged answers; nil for no drift.
	Drifted     func(dst []byte, classification, input string) []byte
	DriftsAfter int64
	// Fails returns the fault of an attempt (from 1), or "" for none. If Fails is nil, Faults counts.
	Fails func(input string, attempt int) Fault

	Key     string            // accepted API key; "" for any
	Seed    uint64            // of the random choices
	Faults  map[Fault]float64 // fraction of the attempts with a fault, 0 to 1
	Missing float64           // fraction of the inputs that always get a 404, 0 to 1

	Latency time.Duration // of every answer
	Jitter  time.Duration // most additional latency
	// Delay returns the latency of an attempt. working is the number of requests in work, including this one. If Delay is nil,
	// Latency and Jitter count.
	Delay      func(input string, attempt, working int) time.Duration
	Padding    int // bytes of white space at the end of an answer
	CloseEvery int // answers on a connection before the service closes it; 0 for no bound

	Limiter       Limiter       // nil for none
	AtOnce        int           // most requests in work; 0 for no limit
	Refusal       Refusal       // of Limiter and of AtOnce
	RefusesAtOnce bool          // a 429 comes without the latency
	States        bool          // send X-RateLimit-Remaining and X-RateLimit-Reset of Limiter with every answer
	Clock         time.Duration // time by which the service's clock, in its dates, is ahead

	Quota       int64  // answers that the API key may get; 0 for no limit
	QuotaStatus int    // HTTP status of a request beyond Quota
	QuotaBody   string // body of a request beyond Quota
	UsageBroken bool   // /api/usage answers HTTP 500

	Revoked func() bool          // reports whether the key is revoked: every request, including usage, gets a 401; nil for never
	Closed  func() time.Duration // if above 0, requests get a 429 with this Retry-After; nil for never

	Down       func() bool // reports whether there is an outage, which includes usage; nil for none
	DownStatus int         // HTTP status during an outage, such as 403 for a ban, or DownHangs or DownResets; default 503
}

// Values of DownStatus for outages without an HTTP status.
const (
	DownHangs  = -1 // no response
	DownResets = -2 // the connection is closed
)

// Refusal is the response to a refused request. The zero value is a 429 that states no wait.
type Refusal struct {
	Status int    // default 429
	Style  Style  // of the wait
	Body   string // default "too many requests", in JSON
}
