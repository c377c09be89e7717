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

const (
	timeout     = 30 * time.Second // of a request, as the program's default
	longestWait = 5 * time.Second  // of a request for a worker: enough to keep all workers busy at any rate
)

// ideal is the time that a client needs that knows everything about the night but which attempts fail: the limits, the
// outages, and when the quota is renewed. It is never refused, and repeats a failed attempt after the mean wait of the retry
// policy. It is stopped as the run is: after the given times, each from the beginning of a start, and by the bound of its
// requests. Once the requests in flight have ended, the next start asks what has no answer, which inputs that fail for good
// never have.
func (n *night) ideal(begins time.Time, stops ...time.Duration) time.Duration {
	i := ideal{night: n, begins: begins, answered: make(map[string]bool), tried: make(map[string]int)}
	if n.knowing != nil {
		i.limiter = n.knowing(begins)
	}
	for now := time.Duration(0); ; {
		stop := time.Duration(math.MaxInt64)
		if len(stops) > 0 {
			stop, stops = now+stops[0], stops[1:]
		}
		end, complete := i.start(now, stop)
		if complete && end <= stop {
			return end
		}
		now = end
	}
}

// ideal is the state of night.ideal.
type ideal struct {
	*night
	begins   time.Time
	limiter  clienttest.Limiter
	made     int64           // requests
	charged  int64           // requests
	answered map[string]bool // inputs
	tried    map[string]int  // attempts of an input
}

// start plays one start, from a time until all its attempts have ended. It sends none after stop. It is complete if it has sent
// all.
func (n *ideal) start(now, stop time.Duration) (end time.Duration, complete bool) {
	var (
		retries attempts
		busy    ends          // connections, or workers of the service
		next    time.Duration // the earliest time that the rate allows
		first   int
		todo    = slices.DeleteFunc(slices.Clone(n.unique), func(input string) bool { return n.answered[input] })
		policy  = client.DefaultRetryPolicy()
	)
	for end = now; first < len(todo) || len(retries) > 0; {
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
			for n.atOnce > 0 && len(busy) > 0 && (busy[0] <= now || len(busy) >= n.atOnce) {
				now = max(now, heap.Pop(&busy).(time.Duration))
			}
			if n.workers > 0 && len(busy) == n.workers {
				now = max(now, busy[0]-longestWait)
			}
			for _, s := range n.out {
				if now >= s.from && now < s.to {
					now = s.to
				}
			}
			if n.quota > 0 && n.charged >= n.quota {
				now = max(now, n.renewed)
			}
			if now > before {
				continue
			}
			if n.limiter == nil || now >= stop {
				break
			}
			ok, _, wait := n.limiter.Admit(n.begins.Add(now))
			if ok {
				break
			}
			now += max(min(wait, 100*time.Millisecond), time.Millisecond)
		}
		if now >= stop {
			return max(end, stop), false
		}
		if n.rate > 0 {
			next = now + seconds(1/n.rate)
		}
		n.tried[a.input]++
		took, fails := n.latency(a.input, n.tried[a.input]), false
		if n.workers > 0 { // the request waits for a worker
			if len(busy) == n.workers {
				took += max(0, heap.Pop(&busy).(time.Duration)-now)
			}
			heap.Push(&busy, now+took)
		}
		switch fault := n.fault(now+took, a.input, n.tried[a.input]); {
		case n.isMissing(a.input):
		case fault == clienttest.Hang:
			took, fails = timeout, true
		case fault == clienttest.Slow:
			n.charged++
		case fault != "":
			fails = true
		default:
			n.charged++
		}
		n.answered[a.input] = !fails
		end = max(end, now+took)
		if n.atOnce > 0 {
			heap.Push(&busy, now+took)
		}
		if fails && a.number < policy.MaxAttempts {
			wait := min(policy.Cap, policy.Base<<(a.number-1)) / 2
			heap.Push(&retries, attempt{now + took + wait, a.input, a.number + 1})
		}
		if n.made++; n.made == n.most {
			return end, first == len(todo) && len(retries) == 0
		}
	}
	return end, true
}
