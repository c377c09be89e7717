package limits

import (
	"time"
)

// Status is the state of a Controller at one moment.
type Status struct {
	State   ServiceState // of the service
	Since   time.Time    // of an outage: when the service last answered; zero while there is none
	Lasting bool         // the service has been refusing everything for a minute, and does not say for how long
	Empty   bool         // the quota is used up, and the run waits
	Unknown bool         // the service does not say how much quota is left, which must be known
	Next    time.Time    // when the service is asked next; zero if it may be asked now

	Rate float64 // the present rate in requests a second; +Inf without a limit
	Most float64 // the limit of the caller or of the service, in requests a second; +Inf for none
}

// Status returns the present state.
func (c *Controller) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, h := &c.budget, &c.health
	s := Status{State: h.state, Lasting: h.state == Limited && c.lasted, Empty: b.empty, Unknown: b.left <= 0 && b.tries > 0, Rate: c.pace.rate, Most: c.pace.most()}
	if s.State == Out {
		s.Since = h.since
	}
	switch {
	case s.Empty, s.Unknown:
		s.Next = b.ask
	case s.State != Up:
		s.Next = h.next
	}
	return s
}
