package nights

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// attempt is an attempt that a client may make from a time on.
type attempt struct {
	ready  time.Duration
	input  string
	number int
}

type attempts []attempt

func (a attempts) Len() int           { return len(a) }
func (a attempts) Less(i, j int) bool { return a[i].ready < a[j].ready }
func (a attempts) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *attempts) Push(x any)        { *a = append(*a, x.(attempt)) }
func (a *attempts) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

type ends []time.Duration

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i] < e[j] }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(time.Duration)) }
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

const timeout = 30 * time.Second // of a request, as the program's default

// ideal is the time that a client needs that knows everything about the night but which attempts fail: the limits, the
// outages, and when the quota is renewed. It is never refused, and repeats a failed attempt after the mean wait of the retry
// policy. It is stopped as the run is: after the given times, each from the beginning of a start. Then the next start asks what
// has no answer, which inputs that fail for good never have.
func (n *night) ideal(start time.Time, stops ...time.Duration) time.Duration {
	var (
		retries       attempts
		busy          ends
		limiter       clienttest.Limiter
		now, end      time.Duration
		next          time.Duration // the earliest time that the rate allows
		first         int
		charged       int64
		todo          = n.unique // of this start
		answered      = make(map[string]bool)
		tried         = make(map[string]int)
		slots, policy = max(n.atOnce, n.workers), client.DefaultRetryPolicy()
	)
	if n.knowing != nil {
		limiter = n.knowing(start)
	}
	for stop := stopAfter(0, stops); first < len(todo) || len(retries) > 0; {
		var a attempt
		switch {
		case len(retries) > 0 && (retries[0].ready <= now || first == len(todo)):
			a = heap.Pop(&retries).(attempt)
			now = max(now, a.ready)
		default:
			a = attempt{input: todo[first], number: 1}
			first++
		}
		now = max(now, next)
		for {
			before := now
			for len(busy) > 0 && (busy[0] <= now || slots > 0 && len(busy) >= slots) {
				now = max(now, heap.Pop(&busy).(time.Duration))
			}
			for _, s := range n.out {
				if now >= s.from && now < s.to {
					now = s.to
				}
			}
			if n.quota > 0 && charged >= n.quota {
				now = max(now, n.renewed)
			}
			if now > before {
				continue
			}
			if limiter == nil || now >= stop {
				break
			}
			ok, _, wait := limiter.Admit(start.Add(now))
			if ok {
				break
			}
			now += max(min(wait, 100*time.Millisecond), time.Millisecond)
		}
		if now >= stop {
			todo = slices.DeleteFunc(slices.Clone(n.unique), func(input string) bool { return answered[input] })
			now, first, retries, busy, stops = stop, 0, nil, nil, stops[1:]
			stop = stopAfter(now, stops)
			continue
		}
		if n.rate > 0 {
			next = now + seconds(1/n.rate)
		}
		tried[a.input]++
		took, fails := n.latency(a.input, tried[a.input]), false
		switch fault := n.fault(now+took, a.input, tried[a.input]); {
		case n.isMissing(a.input):
		case fault == clienttest.Hang:
			took, fails = timeout, true
		case fault == clienttest.Slow:
			charged++
		case fault != "":
			fails = true
		default:
			charged++
		}
		answered[a.input] = !fails
		end = max(end, now+took)
		if slots > 0 {
			heap.Push(&busy, now+took)
		}
		if fails && a.number < policy.MaxAttempts {
			wait := min(policy.Cap, policy.Base<<(a.number-1)) / 2
			heap.Push(&retries, attempt{now + took + wait, a.input, a.number + 1})
		}
	}
	return end
}

// stopAfter is when a start that begins now is stopped.
func stopAfter(now time.Duration, stops []time.Duration) time.Duration {
	if len(stops) == 0 {
		return math.MaxInt64
	}
	return now + stops[0]
}
