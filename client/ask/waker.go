package ask

import "time"

// Waker ends the wait of the goroutine that dispatches requests: when something has happened, or at a time.
type Waker struct {
	woken chan struct{} // of capacity 1
	timer *time.Timer
}

// NewWaker returns a Waker.
func NewWaker() *Waker {
	w := &Waker{woken: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	return w
}

// Wake has the dispatcher look again, now or at the beginning of its next wait.
func (w *Waker) Wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// Woken returns the channel on which a Wake arrives.
func (w *Waker) Woken() <-chan struct{} { return w.woken }

// Timer returns the channel on which the end of a wait arrives: after a while (0 for no bound), and when a retry is due
// (zero for none). The next call stops the timer.
func (w *Waker) Timer(now time.Time, wait time.Duration, due time.Time) <-chan time.Time {
	if untilDue := due.Sub(now); untilDue > 0 && (wait == 0 || untilDue < wait) {
		wait = untilDue
	}
	w.timer.Stop()
	if wait > 0 {
		w.timer.Reset(wait)
	}
	return w.timer.C
}
