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

	Latency    time.Duration // of every answer
	Jitter     time.Duration // most additional latency
	Padding    int           // bytes of white space at the end of an answer
	CloseEvery int           // answers on a connection before the service closes it; 0 for no bound

	Rate          float64 // requests per second; 0 for no limit
	Bucket        int     // size of a burst, in requests
	RetryAfter    Style   // of a 429
	RateHeader    bool    // send RateLimit and RateLimit-Policy with every answer
	RefusesAtOnce bool    // a 429 comes without the latency

	Quota       int64  // answers that the API key may get; 0 for no limit
	QuotaStatus int    // HTTP status of a request beyond Quota
	QuotaBody   string // body of a request beyond Quota
	UsageBroken bool   // /api/usage answers HTTP 500

	Down       func() bool // reports whether there is an outage, usage included; nil for none
	DownStatus int         // HTTP status during an outage; default 503; 403 is a ban
}
