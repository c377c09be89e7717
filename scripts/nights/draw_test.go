package nights

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// night is all that is drawn from a seed. Times are since the beginning of the night.
type night struct {
	seed    uint64
	limiter string                                        // the name of its kind
	limit   func(start time.Time) clienttest.Limiter      // nil for none
	knowing func(start time.Time) clienttest.Limiter      // the same without a penalty: a client that knows it is never refused
	atOnce  int                                           // requests at once that the service works on; 0 for no limit
	workers int                                           // requests that the service works on at once, of those that it has accepted; 0 for all
	serves  float64                                       // requests a second that the limits allow, about
	rate    float64                                       // --rate; 0 for none
	refusal clienttest.Refusal                            // what is too much gets this
	states  bool                                          // each answer has the rest of the window
	clock   time.Duration                                 // that the service's clock is ahead
	latency func(input string, attempt int) time.Duration // of an answer
	slowest time.Duration                                 // answers, about
	faults  float64                                       // share of the attempts
	kinds   []clienttest.Fault                            // of the faults
	bad     []span                                        // more attempts fail
	badness float64                                       // times the share of faults
	broken  float64                                       // share of the inputs that fail for good
	missing float64                                       // share of the inputs that get a 404
	titles  []string                                      // of the records; some are equal
	unique  []string                                      // titles, each once
	out     []span                                        // outages
	outKind outage
	deploys []time.Duration
	quota   int64         // answers until the quota is used up; 0 for no quota
	renewed time.Duration // when the quota is renewed
	stops   []float64     // parts of the ideal time after which the run is stopped, and started again
	most    int64         // --max-requests; once it is reached, the run is started again without; 0 for none
}

type span struct{ from, to time.Duration }

func within(spans []span, at time.Duration) bool {
	for _, s := range spans {
		if at >= s.from && at < s.to {
			return true
		}
	}
	return false
}

// outage is how a service is out.
type outage uint8

const (
	out503 outage = iota
	out502
	outRefused // connections are refused
	outHangs
	outages
)

// mode is the row of the first table that a night belongs to.
func (n *night) mode() string {
	switch {
	case n.rate > 0 && n.rate < 0.95*n.serves:
		return "--rate below the limit"
	case n.rate > 0:
		return "--rate at or above it"
	case n.refusal.Style != clienttest.Absent || n.states:
		return "auto, stated limits"
	}
	return "auto, silent limits"
}

// dice draws.
type dice struct{ *rand.Rand }

func (d dice) between(from, to float64) float64 { return from + (to-from)*d.Float64() }

// log draws evenly from the orders of magnitude.
func (d dice) log(from, to float64) float64 {
	return from * math.Exp(d.Float64()*math.Log(to/from))
}

func (d dice) chance(p float64) bool { return d.Float64() < p }

func (d dice) seconds(from, to float64) time.Duration {
	return time.Duration(d.log(from, to) * float64(time.Second))
}

// draw draws a night of at most so many titles.
func draw(seed uint64, titles float64) *night {
	d := dice{rand.New(rand.NewPCG(seed, 1))}
	n := &night{seed: seed}
	n.drawLatency(d)
	n.drawLimiter(d)
	n.drawRefusal(d)
	n.drawList(d, titles)
	n.drawFaults(d)
	n.drawPlan(d)
	return n
}

func (n *night) drawLatency(d dice) {
	usual := d.log(0.02, 1)
	kind := d.IntN(3)
	n.slowest = time.Duration(usual * 1.2 * float64(time.Second))
	if kind > 0 {
		n.slowest = time.Duration(usual * 5 * float64(time.Second))
	}
	n.latency = func(input string, attempt int) time.Duration {
		x := chance(n.seed, "latency", input, attempt)
		factor := 0.8 + 0.4*x
		switch kind {
		case 1: // a long tail
			factor = math.Min(0.7*math.Exp(1.2*math.Max(0, -math.Log(1-x)-0.7)), 20)
		case 2: // two humps
			if x > 0.85 {
				factor *= 4
			}
		}
		return time.Duration(math.Min(usual*factor, 5) * float64(time.Second))
	}
}

// mean is the mean latency.
func (n *night) mean() time.Duration {
	sum := time.Duration(0)
	for i := range 200 {
		sum += n.latency(fmt.Sprint("mean ", i), 1)
	}
	return sum / 200
}

func (n *night) drawLimiter(d dice) {
	n.serves = d.log(0.5, 300)
	number := func(window time.Duration) int { return max(1, int(math.Round(n.serves*window.Seconds()))) }
	round := func(window time.Duration) int {
		k := number(window)
		n.serves = float64(k) / window.Seconds()
		return k
	}
	window := []time.Duration{time.Second, 10 * time.Second, time.Minute}[d.IntN(3)]
	if n.serves < 2 {
		window = max(window, 10*time.Second)
	}
	same := func(make func(time.Time) clienttest.Limiter) { n.limit, n.knowing = make, make }
	bucket := func(burst float64) func(time.Time) clienttest.Limiter {
		rate := n.serves
		return func(time.Time) clienttest.Limiter { return &clienttest.Bucket{Rate: rate, Burst: burst} }
	}
	switch d.IntN(15) {
	case 0:
		n.limiter = "none"
		n.workers = max(1, int(n.serves*n.mean().Seconds()))
		n.serves = float64(n.workers) / n.mean().Seconds()
	case 1:
		n.limiter = "bucket without burst"
		same(bucket(1))
	case 2, 3:
		n.limiter = "bucket"
		same(bucket(math.Ceil(n.serves * d.log(0.2, 10))))
	case 4, 5:
		n.limiter = "fixed window"
		number, aligned := round(window), d.chance(0.5)
		same(func(time.Time) clienttest.Limiter {
			return &clienttest.Fixed{Number: number, Window: window, Aligned: aligned}
		})
	case 6:
		n.limiter = "sliding window"
		number := round(window)
		same(func(time.Time) clienttest.Limiter { return &clienttest.Sliding{Number: number, Window: window} })
	case 7:
		n.limiter = "counting window"
		number := round(window)
		n.limit = func(time.Time) clienttest.Limiter {
			return &clienttest.Sliding{Number: number, Window: window, CountsRefused: true}
		}
		n.knowing = func(time.Time) clienttest.Limiter { return &clienttest.Sliding{Number: number, Window: window} }
	case 8:
		n.limiter = "block"
		make, block, prolonged := bucket(math.Ceil(n.serves)), d.seconds(5, 60), d.chance(0.5)
		n.limit = func(start time.Time) clienttest.Limiter {
			return &clienttest.Penalty{Limiter: make(start), Block: block, Prolonged: prolonged}
		}
		n.knowing = make
	case 9:
		n.limiter = "at once"
		n.atOnce = max(1, int(n.serves*n.mean().Seconds()))
		n.serves = float64(n.atOnce) / n.mean().Seconds()
	case 10:
		n.limiter = "two at once"
		first, perMinute := bucket(math.Ceil(n.serves/2)), max(1, int(n.serves*60*d.between(0.5, 0.9)))
		n.serves = float64(perMinute) / 60
		same(func(start time.Time) clienttest.Limiter {
			return clienttest.Both{first(start), &clienttest.Fixed{Number: perMinute, Window: time.Minute}}
		})
	case 11:
		n.limiter = "estimated window"
		number := round(window)
		same(func(time.Time) clienttest.Limiter { return &clienttest.Estimate{Number: number, Window: window} })
	case 12:
		n.limiter = "strikes"
		make, block := bucket(math.Ceil(n.serves/4)), d.seconds(5, 30)
		n.limit = func(start time.Time) clienttest.Limiter {
			return &clienttest.Strikes{Limiter: make(start), Most: 20, Block: block}
		}
		n.knowing = make
	case 13:
		n.limiter = "delaying bucket"
		rate := n.serves
		same(func(time.Time) clienttest.Limiter { return &clienttest.Delaying{Rate: rate, Most: time.Second} })
	default:
		n.limiter = "changing"
		before, after := n.serves, n.serves*d.log(0.3, 3)
		burst, at := math.Ceil(n.serves/2), d.seconds(20, 300)
		same(func(start time.Time) clienttest.Limiter {
			return &clienttest.Changing{
				Before: &clienttest.Bucket{Rate: before, Burst: burst}, After: &clienttest.Bucket{Rate: after, Burst: burst}, At: start.Add(at),
			}
		})
		n.serves = min(before, after)
	}
	switch d.IntN(3) {
	case 0:
		n.rate = n.serves * d.between(0.5, 0.95)
	case 1:
		n.rate = n.serves * d.between(0.95, 2)
	}
}

func (n *night) drawRefusal(d dice) {
	n.refusal.Status = []int{0, 0, 0, 0, http.StatusServiceUnavailable, http.StatusForbidden}[d.IntN(6)]
	n.refusal.Style = []clienttest.Style{clienttest.Absent, clienttest.Absent, clienttest.Seconds, clienttest.Date, clienttest.UnixTime, clienttest.Body}[d.IntN(6)]
	n.states = d.chance(0.2)
	if d.chance(0.1) {
		n.clock = d.seconds(1, 3600)
	}
}

// drawList draws a list that takes from a minute to an hour, within the bounds.
func (n *night) drawList(d dice, titles float64) {
	least := max(titles/40, min(titles/2, 60*n.serves))
	records := int(d.log(least, max(least, min(titles, 3600*n.serves))))
	equal := d.between(0, 0.3)
	for range records {
		if len(n.unique) > 0 && d.chance(equal) {
			n.titles = append(n.titles, n.unique[d.IntN(len(n.unique))])
			continue
		}
		title := fmt.Sprintf("title %d", len(n.unique)+1)
		n.unique, n.titles = append(n.unique, title), append(n.titles, title)
	}
}

// length is about how long the night takes without faults.
func (n *night) length() float64 {
	rate := n.serves
	if n.rate > 0 {
		rate = min(rate, n.rate)
	}
	return float64(len(n.unique)) / rate
}

func (n *night) drawFaults(d dice) {
	if d.chance(0.75) {
		n.faults = d.between(0.001, 0.06)
	}
	n.kinds = []clienttest.Fault{clienttest.Error500, "502", clienttest.Reset, clienttest.HTML, clienttest.Truncated, clienttest.Slow}
	if d.chance(0.5) {
		n.kinds = append(n.kinds, clienttest.Hang)
	}
	d.Shuffle(len(n.kinds), func(i, j int) { n.kinds[i], n.kinds[j] = n.kinds[j], n.kinds[i] })
	n.kinds = n.kinds[:1+d.IntN(len(n.kinds))]
	if d.chance(0.2) {
		from := d.between(0, n.length())
		n.bad = []span{{seconds(from), seconds(from + d.log(10, 600))}}
		n.badness = d.between(3, 10)
	}
	if d.chance(0.2) {
		n.broken = d.log(0.0005, 0.01)
	}
	if d.chance(0.5) {
		n.missing = d.between(0, 0.4)
	}
}

func (n *night) drawPlan(d dice) {
	if d.chance(0.15) {
		from := d.between(0.1, 0.9) * n.length()
		n.out = []span{{seconds(from), seconds(from + d.log(2, 7200))}}
		n.outKind = outage(d.IntN(int(outages)))
	}
	if d.chance(0.15) {
		n.deploys = []time.Duration{seconds(d.between(0.1, 0.9) * n.length())}
	}
	if d.chance(0.1) {
		n.quota = max(1, int64(d.between(0.2, 0.8)*float64(len(n.unique))))
		n.renewed = seconds(n.length() * d.between(1, 3))
	}
	for range max(0, d.IntN(6)-2) {
		n.stops = append(n.stops, d.between(0.05, 0.95))
	}
	if d.chance(0.15) {
		n.most = int64(d.between(0.1, 1.2) * float64(len(n.unique)))
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// chance is a number in [0,1) that depends only on its arguments.
func chance(seed uint64, purpose, input string, attempt int) float64 {
	return clienttest.Chance(seed, purpose, input, attempt)
}

// fault is the fault of an attempt that is answered at a time; "" for none.
func (n *night) fault(at time.Duration, input string, attempt int) clienttest.Fault {
	for _, deploy := range n.deploys {
		if at >= deploy && at < deploy+n.slowest/4 {
			return clienttest.Reset
		}
	}
	if chance(n.seed, "broken", input, 0) < n.broken {
		return n.kinds[0]
	}
	share := n.faults
	if within(n.bad, at) {
		share = min(share*n.badness, 0.5)
	}
	x := chance(n.seed, "fault", input, attempt)
	if x >= share {
		return ""
	}
	return n.kinds[int(x/share*float64(len(n.kinds)))]
}

func (n *night) isMissing(input string) bool { return chance(n.seed, "missing", input, 0) < n.missing }

// name describes a night in a line.
func (n *night) name() string {
	return fmt.Sprintf("%d: %s %.3g/s, --rate %.3g, %d%v%s states %t, clock %v, latency %v, faults %.1f%% %v x%.0f, broken %.2f%%, missing %.0f%%, %d titles, out %v %d, deploys %v, quota %d at %v, stops %.2f, --max-requests %d",
		n.seed, n.limiter, n.serves, n.rate, n.refusal.Status, n.refusal.Style, n.refusal.Body, n.states, n.clock, n.mean().Round(time.Millisecond), 100*n.faults, n.kinds, n.badness,
		100*n.broken, 100*n.missing, len(n.titles), n.out, n.outKind, n.deploys, n.quota, n.renewed, n.stops, n.most)
}
