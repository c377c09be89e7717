package limits

import (
	"math"
	"time"
)

// limiter is a model of a service's limiter. It reports whether it admits the request that comes now; if not, it
// returns the time until it admits one. The number left and the time until the window ends are what some
// limiters state with each answer; left is -1 if the limiter has no window.
type limiter interface {
	admit(now time.Time) (ok bool, left int, wait time.Duration)
}

// bucket admits requests at a rate, and burst requests more at once.
type bucket struct {
	rate, burst float64
	level       float64
	at          time.Time
}

func (l *bucket) admit(now time.Time) (bool, int, time.Duration) {
	l.level = max(0, l.level-now.Sub(l.at).Seconds()*l.rate)
	l.at = now
	if over := l.level + 1 - l.burst; over > 0 {
		return false, -1, seconds(over / l.rate)
	}
	l.level++
	return true, -1, 0
}

// fixed admits a number of requests in each window. Windows begin with their first request, or, if aligned, at
// multiples of their length.
type fixed struct {
	number  int
	window  time.Duration
	aligned bool
	used    int
	ends    time.Time
}

func (l *fixed) admit(now time.Time) (bool, int, time.Duration) {
	if !now.Before(l.ends) {
		l.used, l.ends = 0, now.Add(l.window)
		if l.aligned {
			l.ends = now.Truncate(l.window).Add(l.window)
		}
	}
	ok := l.used < l.number
	if ok {
		l.used++
	}
	return ok, l.number - l.used, l.ends.Sub(now)
}

// sliding admits a number of requests in any period of the length window. If counts, refused requests count too.
type sliding struct {
	number int
	window time.Duration
	counts bool
	log    []time.Time
}

func (l *sliding) admit(now time.Time) (bool, int, time.Duration) {
	first := 0
	for first < len(l.log) && now.Sub(l.log[first]) >= l.window {
		first++
	}
	l.log = l.log[first:]
	ok := len(l.log) < l.number
	if ok || l.counts {
		l.log = append(l.log, now)
	}
	if ok {
		return ok, l.number - len(l.log), l.window
	}
	return ok, 0, l.log[len(l.log)-l.number].Add(l.window).Sub(now)
}

// estimate admits a number of requests in a sliding window that is estimated from the counts of two fixed windows.
type estimate struct {
	number     int
	window     time.Duration
	counts     bool
	before, in float64
	began      time.Time
}

func (l *estimate) admit(now time.Time) (bool, int, time.Duration) {
	if began := now.Truncate(l.window); began != l.began {
		if l.before = 0; began.Sub(l.began) == l.window {
			l.before = l.in
		}
		l.in, l.began = 0, began
	}
	part := 1 - now.Sub(l.began).Seconds()/l.window.Seconds()
	ok := l.before*part+l.in < float64(l.number)
	if ok || l.counts {
		l.in++
	}
	left := max(0, int(float64(l.number)-l.before*part-l.in))
	return ok, left, l.began.Add(l.window).Sub(now) // as httprate states it
}

// penalty refuses every request for a while after another limiter has refused one. If prolonged, each request
// in this time begins the time again.
type penalty struct {
	limiter
	block     time.Duration
	prolonged bool
	until     time.Time
}

func (l *penalty) admit(now time.Time) (bool, int, time.Duration) {
	if now.Before(l.until) {
		if l.prolonged {
			l.until = now.Add(l.block)
		}
		return false, -1, l.until.Sub(now)
	}
	ok, _, _ := l.limiter.admit(now)
	if !ok {
		l.until = now.Add(l.block)
	}
	return ok, -1, l.until.Sub(now)
}

// both has two limits at once. A request that the second limit refuses still counts for the first.
type both [2]limiter

func (l both) admit(now time.Time) (bool, int, time.Duration) {
	for _, each := range l {
		if ok, left, wait := each.admit(now); !ok {
			return false, left, wait
		}
	}
	return true, -1, 0
}

// wholeSeconds rounds as services round.
func wholeSeconds(d time.Duration, up bool) time.Duration {
	s := math.Floor(d.Seconds())
	if up {
		s = math.Ceil(d.Seconds())
	}
	return time.Duration(s) * time.Second
}

// delaying is a leaky bucket that delays requests, as nginx's limit_req without nodelay, and refuses those that would wait
// for longer than most.
type delaying struct {
	rate float64
	most time.Duration
	next time.Time
}

func (l *delaying) admit(now time.Time) (bool, int, time.Duration) {
	if l.next.Before(now) {
		l.next = now
	}
	if wait := l.next.Sub(now); wait > l.most {
		return false, -1, wait - l.most
	}
	l.next = l.next.Add(seconds(1 / l.rate))
	return true, -1, 0
}

// strikes counts refusals in a minute, and blocks after too many of them.
type strikes struct {
	limiter
	most    int
	block   time.Duration
	counted fixed
	until   time.Time
}

func (l *strikes) admit(now time.Time) (bool, int, time.Duration) {
	if now.Before(l.until) {
		return false, -1, l.until.Sub(now)
	}
	ok, left, wait := l.limiter.admit(now)
	if !ok {
		l.counted.number, l.counted.window = l.most, time.Minute
		if within, _, _ := l.counted.admit(now); !within {
			l.until, wait = now.Add(l.block), l.block
		}
	}
	return ok, left, wait
}
