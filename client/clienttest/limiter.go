package clienttest

import (
	"math"
	"time"
)

// Limiter is a model of a limiter. Admit reports whether the limiter admits a request that comes now. For a refused request,
// wait is the time until the limiter admits one. For an admitted one, it is the time until the window ends, and left is the
// number of requests left in the window, or -1 if the limiter has no window.
type Limiter interface {
	Admit(now time.Time) (ok bool, left int, wait time.Duration)
}

// Bucket admits Rate requests a second, and Burst at once.
type Bucket struct {
	Rate, Burst float64
	level       float64 // requests in the bucket
	at          time.Time
}

func (l *Bucket) Admit(now time.Time) (bool, int, time.Duration) {
	l.level = max(0, l.level-now.Sub(l.at).Seconds()*l.Rate)
	l.at = now
	if over := l.level + 1 - l.Burst; over > 1e-9 {
		return false, -1, max(1, seconds(over/l.Rate))
	}
	l.level++
	return true, -1, 0
}

// Fixed admits Number requests in each window. A window begins with its first request, or, if Aligned, at a multiple of Window.
type Fixed struct {
	Number  int
	Window  time.Duration
	Aligned bool
	used    int
	ends    time.Time
}

func (l *Fixed) Admit(now time.Time) (bool, int, time.Duration) {
	if !now.Before(l.ends) {
		l.used, l.ends = 0, now.Add(l.Window)
		if l.Aligned {
			l.ends = now.Truncate(l.Window).Add(l.Window)
		}
	}
	ok := l.used < l.Number
	if ok {
		l.used++
	}
	return ok, l.Number - l.used, l.ends.Sub(now)
}

// Sliding admits Number requests in any period of the length Window. If CountsRefused, it counts refused requests, too.
type Sliding struct {
	Number        int
	Window        time.Duration
	CountsRefused bool
	log           []time.Time
}

func (l *Sliding) Admit(now time.Time) (bool, int, time.Duration) {
	first := 0
	for first < len(l.log) && now.Sub(l.log[first]) >= l.Window {
		first++
	}
	l.log = l.log[first:]
	ok := len(l.log) < l.Number
	if ok || l.CountsRefused {
		l.log = append(l.log, now)
	}
	if ok {
		return ok, l.Number - len(l.log), l.Window
	}
	return ok, 0, l.log[len(l.log)-l.Number].Add(l.Window).Sub(now)
}

// Estimate admits Number requests in a sliding window that is estimated from the counts of two fixed windows.
type Estimate struct {
	Number        int
	Window        time.Duration
	CountsRefused bool // counts refused requests, too
	before, in    float64
	began         time.Time
}

func (l *Estimate) Admit(now time.Time) (bool, int, time.Duration) {
	if began := now.Truncate(l.Window); began != l.began {
		if l.before = 0; began.Sub(l.began) == l.Window {
			l.before = l.in
		}
		l.in, l.began = 0, began
	}
	part := 1 - now.Sub(l.began).Seconds()/l.Window.Seconds()
	ok := l.before*part+l.in < float64(l.Number)
	if ok || l.CountsRefused {
		l.in++
	}
	left := max(0, int(float64(l.Number)-l.before*part-l.in))
	return ok, left, l.began.Add(l.Window).Sub(now) // as httprate does
}

// Penalty refuses every request for the time Block after Limiter has refused one. If Prolonged, each request in this time
// restarts it.
type Penalty struct {
	Limiter
	Block     time.Duration
	Prolonged bool
	until     time.Time
}

func (l *Penalty) Admit(now time.Time) (bool, int, time.Duration) {
	if now.Before(l.until) {
		if l.Prolonged {
			l.until = now.Add(l.Block)
		}
		return false, -1, l.until.Sub(now)
	}
	ok, _, _ := l.Limiter.Admit(now)
	if !ok {
		l.until = now.Add(l.Block)
	}
	return ok, -1, l.until.Sub(now)
}

// Both has two limits at once. A request that the second refuses is still counted by the first.
type Both [2]Limiter

func (l Both) Admit(now time.Time) (bool, int, time.Duration) {
	for _, each := range l {
		if ok, left, wait := each.Admit(now); !ok {
			return false, left, wait
		}
	}
	return true, -1, 0
}

// Delaying is a leaky bucket that delays requests, as nginx's limit_req without nodelay, and refuses requests that would wait
// for longer than Most. A Server delays an admitted request by Delay.
type Delaying struct {
	Rate  float64
	Most  time.Duration
	Delay time.Duration // of the last admitted request
	next  time.Time
}

func (l *Delaying) Admit(now time.Time) (bool, int, time.Duration) {
	if l.next.Before(now) {
		l.next = now
	}
	l.Delay = l.next.Sub(now)
	if l.Delay > l.Most {
		return false, -1, l.Delay - l.Most
	}
	l.next = l.next.Add(seconds(1 / l.Rate))
	return true, -1, 0
}

// Strikes refuses every request for the time Block after more than Most refusals in a minute.
type Strikes struct {
	Limiter
	Most    int
	Block   time.Duration
	counted Fixed
	until   time.Time
}

func (l *Strikes) Admit(now time.Time) (bool, int, time.Duration) {
	if now.Before(l.until) {
		return false, -1, l.until.Sub(now)
	}
	ok, left, wait := l.Limiter.Admit(now)
	if !ok {
		l.counted.Number, l.counted.Window = l.Most, time.Minute
		if within, _, _ := l.counted.Admit(now); !within {
			l.until, wait = now.Add(l.Block), l.Block
		}
	}
	return ok, left, wait
}

// Changing has the limiter Before until the time At, and then After.
type Changing struct {
	Before, After Limiter
	At            time.Time
}

func (l *Changing) Admit(now time.Time) (bool, int, time.Duration) {
	if now.Before(l.At) {
		return l.Before.Admit(now)
	}
	return l.After.Admit(now)
}

// seconds converts a number of seconds to at most ten days, which is longer than any test.
func seconds(s float64) time.Duration {
	return time.Duration(math.Min(s, 864000) * float64(time.Second))
}
