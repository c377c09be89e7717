package clienttest

import "time"

// Options describe the faults and the limits of a service. The zero value has none.
type Options struct {
	// Answer appends the body of an answer; nil for Value(input) and one more category.
	Answer func(dst []byte, classification, input string) []byte
	// Drifted takes the place of Answer after DriftsAfter charged answers; nil for a service that stays as it is.
	Drifted     func(dst []byte, classification, input string) []byte
	DriftsAfter int64
	// Fails returns the fault of an attempt, which counts from 1, "" for none; nil for Faults.
	Fails func(input string, attempt int) Fault

	Key     string            // accepted API key; "" for any
	Seed    uint64            // of the random choices
	Faults  map[Fault]float64 // fraction of the attempts with a fault, 0 to 1
	Missing float64           // fraction of the inputs that always get a 404, 0 to 1

	Latency time.Duration // of every answer
	Jitter  time.Duration // most additional latency
	// Delay returns the latency of an attempt while the service works on some requests, this one included; nil for Latency
	// and Jitter.
	Delay      func(input string, attempt, working int) time.Duration
	Padding    int // bytes of white space at the end of an answer
	CloseEvery int // answers on a connection before the service closes it; 0 for no bound

	Rate          float64 // requests per second; 0 for no limit
	Bucket        int     // size of a burst, in requests
	RetryAfter    Style   // of a 429
	RateHeader    bool    // send RateLimit and RateLimit-Policy with every answer
	RefusesAtOnce bool    // a 429 comes without the latency

	Limiter Limiter       // beside Rate; nil for none
	AtOnce  int           // requests that the service works on at once; 0 for no limit
	Refusal Refusal       // of Limiter and of AtOnce
	States  bool          // send X-RateLimit-Remaining and X-RateLimit-Reset of Limiter with every answer
	Clock   time.Duration // that the service's clock is ahead, in its dates

	Quota       int64  // answers that the API key may get; 0 for no limit
	QuotaStatus int    // HTTP status of a request beyond Quota
	QuotaBody   string // body of a request beyond Quota
	UsageBroken bool   // /api/usage answers HTTP 500

	Revoked func() bool          // reports whether the key is revoked: 401, usage included; nil for never
	Closed  func() time.Duration // requests get a 429 whose Retry-After is this time; 0 for none; nil for never

	Down       func() bool // reports whether there is an outage, usage included; nil for none
	DownStatus int         // HTTP status during an outage; default 503; 403 is a ban; or one of those below
}

// The values of DownStatus of a service that answers with no status.
const (
	DownHangs  = -1 // no response
	DownResets = -2 // the connection is closed
)

// Refusal is the way in which a service refuses what is too much. The zero value is a 429 without a wait.
type Refusal struct {
	Status int    // default 429
	Style  Style  // of the wait
	Body   string // default "too many requests", in JSON
}
