package limits

import (
	"container/heap"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// world simulates events in synthetic time.
type world struct {
	now    time.Time
	events events
	random *rand.Rand
	serial int
}

type event struct {
	at     int64 // Unix nanoseconds
	serial int
	do     func()
}

type events []*event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].serial < e[j].serial
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(*event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

var seed uint64 = 1

func newWorld() *world {
	return &world{now: time.Unix(1_000_000, 0), random: rand.New(rand.NewPCG(seed, 2))}
}

func (w *world) after(d time.Duration, do func()) {
	w.serial++
	heap.Push(&w.events, &event{w.now.Add(min(max(d, 0), 1000*time.Hour)).UnixNano(), w.serial, do})
}

// run handles events until there are none, or for the duration longest.
func (w *world) run(longest time.Duration) {
	end := w.now.Add(longest)
	for len(w.events) > 0 && w.events[0].at <= end.UnixNano() {
		e := heap.Pop(&w.events).(*event)
		w.now = time.Unix(0, e.at)
		e.do()
	}
	if len(w.events) > 0 {
		w.now = end
	}
}

// chance is a number in [0,1) that depends only on the seed and the arguments.
func chance(input, attempt int) float64 {
	return rand.New(rand.NewPCG(seed, uint64(input*1000+attempt))).Float64()
}

// between is a uniform random duration.
func (w *world) between(from, to time.Duration) time.Duration {
	return from + time.Duration(w.random.Float64()*float64(to-from))
}

// vendor is a model of a service.
type vendor struct {
	*world
	least, most time.Duration // the latency of an answer

	rate   float64 // of a token bucket, in requests a second; 0 for no limit
	burst  float64
	queued bool // requests within the burst are delayed, as by nginx's limit_req without nodelay
	status Signal
	wait   time.Duration // Retry-After

	limiter     clienttest.Limiter                             // beside the bucket above; nil for none
	states      bool                                           // what is left of the limiter's window, with each answer
	connections int                                            // at once; 0 for no limit
	fails       func(input, attempt int) (bool, time.Duration) // and the time until the failure
	late        time.Duration                                  // from a failure, as the client sees it, until the connection is free
	down        func() bool
	downWait    time.Duration
	downAfter   time.Duration  // until downResult
	downResult  Result         // while the service is down, in place of status
	inFlight    map[int]func() // ends the requests that the service works on as broken; nil if the service is never killed
	proxy       bool           // a proxy answers while the service is down

	filled   time.Time
	excess   float64
	working  int
	served   int
	refused  int
	arrivals []arrival // unless quiet
	quiet    bool

	hangRefusal time.Duration // until a refusal
}

type arrival struct {
	at      time.Time
	refused bool
}

// serve receives a request and answers later by calling reply.
func (v *vendor) serve(input, attempt int, reply func(Result)) {
	transit := v.between(0, time.Millisecond)
	v.after(transit, func() {
		delay, result := v.accept(input, attempt)
		v.note(arrival{v.now, result.Signal == Refused || result.Signal == Unavailable || result.Signal == Failed && delay == 0})
		v.working++
		v.serial++
		id := v.serial
		broken := false
		if v.inFlight != nil {
			v.inFlight[id] = func() {
				broken = true
				v.working--
				v.after(transit, func() { reply(Result{Signal: Failed, Broken: true}) })
			}
		}
		v.after(delay, func() {
			if broken {
				return
			}
			delete(v.inFlight, id)
			if result.Signal == Answered {
				v.served++
			}
			if v.late > 0 && result.Signal == Failed { // the client has given up
				v.after(v.late, func() { v.working-- })
			} else {
				v.working--
			}
			v.after(transit, func() { reply(result) })
		})
	})
}

func (v *vendor) note(a arrival) {
	if !v.quiet {
		v.arrivals = append(v.arrivals, a)
	}
}

// kill breaks the connections of all requests that the service works on, and empties its queue.
func (v *vendor) kill() {
	for _, id := range slices.Sorted(maps.Keys(v.inFlight)) {
		v.inFlight[id]()
	}
	clear(v.inFlight)
	v.excess = 0
}

func (v *vendor) accept(input, attempt int) (time.Duration, Result) {
	switch {
	case v.down == nil || !v.down():
	case v.downResult.Signal != 0:
		return v.downAfter, v.downResult
	default:
		return 0, Result{Signal: v.status, Wait: v.downWait, Broken: v.inFlight != nil && !v.proxy}
	}
	refusal := Result{Signal: v.status, Wait: v.wait}
	if v.connections > 0 && v.working >= v.connections {
		v.refused++
		return v.hangRefusal, refusal
	}
	delay := v.between(v.least, v.most)
	answer := Result{Signal: Answered}
	if v.limiter != nil {
		ok, left, wait := v.limiter.Admit(v.now)
		ends := time.Duration(math.Ceil(wait.Seconds())) * time.Second // as services round
		switch {
		case !ok:
			v.refused++
			if v.states {
				refusal.Wait = ends
			}
			return v.hangRefusal, refusal
		case v.states && left >= 0:
			answer.Left, answer.Ends = left, ends
			if f, isFixed := v.limiter.(*clienttest.Fixed); isFixed && f.Window <= time.Minute {
				answer.Rate = float64(f.Number) / f.Window.Seconds()
			}
		}
	}
	if v.rate > 0 {
		v.excess = max(0, v.excess-v.now.Sub(v.filled).Seconds()*v.rate)
		v.filled = v.now
		if v.excess+1 > v.burst+1 {
			v.refused++
			return v.hangRefusal, refusal
		}
		if v.queued {
			delay += time.Duration(v.excess / v.rate * float64(time.Second))
		}
		v.excess++
	}
	if v.fails != nil {
		if fails, took := v.fails(input, attempt); fails {
			return delay + took, Result{Signal: Failed}
		}
	}
	return delay, answer
}

// client simulates a run: it sends requests until each input has an answer or has failed.
type client struct {
	*world
	vendor *vendor
	limits *Controller
	inputs int
	jitter time.Duration // of timers
	sleeps bool          // as a dispatcher does, until its timer or an Effect wakes it

	start, end     time.Time
	asked          int // first attempts
	retries        parked
	doneOK, failed int
	outages        int
	limited        int
	outageAt       time.Time // of the first outage or block
	asks           int
	stopped        error
	timer          int
	mostInFlight   int
}

type retry struct {
	input, attempts int
	refusals        int
	due, failedAt   time.Time
	final           bool
}

type parked []retry

func (p parked) Len() int           { return len(p) }
func (p parked) Less(i, j int) bool { return p[i].due.Before(p[j].due) }
func (p parked) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *parked) Push(x any)        { *p = append(*p, x.(retry)) }
func (p *parked) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

func newClient(w *world, v *vendor, inputs int, o Options) *client {
	c := &client{world: w, vendor: v, inputs: inputs, start: w.now, limits: New(o, w.now)}
	w.after(0, c.step)
	return c
}

func (c *client) step() {
	for c.stopped == nil && c.doneOK+c.failed < c.inputs {
		q := Queue{First: c.asked < c.inputs, Retry: len(c.retries) > 0 && !c.retries[0].due.After(c.now)}
		if q.Retry && c.settle(q) {
			continue
		}
		d := c.limits.Next(c.now, q)
		switch d.Action {
		case Stop:
			c.stopped = d.Err
			c.end = c.now
			return
		case Wait:
			wait := d.For
			if len(c.retries) > 0 && !q.Retry {
				if due := c.retries[0].due.Sub(c.now); wait == 0 || due < wait {
					wait = due
				}
			}
			if wait > 0 {
				c.timer++
				timer := c.timer
				c.after(wait+c.between(0, c.jitter), func() {
					if timer == c.timer {
						c.step()
					}
				})
			}
			return
		case SendFirst:
			c.asked++
			c.send(retry{input: c.asked}, d.Permit)
		case SendRetry:
			c.send(heap.Pop(&c.retries).(retry), d.Permit)
		case AskQuota:
			c.asks++
			c.told(c.limits.ReportQuota(c.now, Quota{Metered: false}))
		}
	}
	if c.end.IsZero() {
		c.end = c.now
	}
}

const (
	attemptsEach = 8
	refusalsEach = 64 // that do not count as attempts
)

// settle handles the next retry if its last attempt has failed, and reports whether it did: such
// a retry is not sent.
func (c *client) settle(q Queue) bool {
	r := &c.retries[0]
	if !r.final {
		return false
	}
	switch c.limits.CauseOf(c.now, r.failedAt, q, true) {
	case CauseRequest:
		c.failed++
		heap.Pop(&c.retries)
	case CauseOutage:
		r.final, r.attempts = false, r.attempts-1
	default:
		r.due = c.now.Add(50 * time.Millisecond)
		heap.Fix(&c.retries, 0)
	}
	return true
}

func (c *client) send(r retry, p Permit) {
	c.mostInFlight = max(c.mostInFlight, c.limits.inFlight)
	r.attempts++
	c.vendor.serve(r.input, r.attempts, func(result Result) {
		change := c.limits.End(c.now, p, result)
		c.told(change)
		switch result.Signal {
		case Answered:
			c.doneOK++
		case Refused, Failed, Unavailable:
			r.failedAt = c.now
			if result.Signal == Refused {
				r.refusals++
			}
			backoff := 250 * time.Millisecond << min(r.attempts-1, 8)
			r.due = c.now.Add(result.Wait + c.between(0, min(backoff, time.Minute)))
			if r.final = r.attempts-min(r.refusals, refusalsEach) >= attemptsEach; r.final {
				r.due = c.now
			}
			heap.Push(&c.retries, r)
		}
		if change.Wake || !c.sleeps {
			c.step()
		}
	})
}

func (c *client) told(change Effect) {
	switch change.State {
	case Limited:
		c.limited++
	case Out:
		c.outages++
	}
	if c.outages+c.limited > 0 && c.outageAt.IsZero() {
		c.outageAt = c.now
	}
}

// took is the duration of the run.
func (c *client) took() time.Duration {
	if c.end.IsZero() {
		return math.MaxInt64
	}
	return c.end.Sub(c.start)
}

// refusedAfter is the share of refused requests among those later than d after the start.
func (v *vendor) refusedAfter(start time.Time, d time.Duration) float64 {
	all, refused := 0, 0
	for _, a := range v.arrivals {
		if a.at.Sub(start) > d {
			all++
			if a.refused {
				refused++
			}
		}
	}
	return float64(refused) / math.Max(1, float64(all))
}

// busiest is the largest number of requests in any second.
func (v *vendor) busiest() int {
	most, first := 0, 0
	for i, a := range v.arrivals {
		for a.at.Sub(v.arrivals[first].at) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
