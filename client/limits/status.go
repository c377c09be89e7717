package limits

import (
	"time"
)

// Status is the state of a Controller at one moment.
type Status struct {
	State   ServiceState // of the service
	Since   time.Time    // when the service last answered before the outage; zero if State is not Out
	Lasting bool         // the service has refused everything for a minute, and does not state when it will accept requests
	Empty   bool         // the quota is used up, and the run waits
	Unknown bool         // the run waits because the service does not say how much quota is left
	Next    time.Time    // when the next request may be sent; zero for now

	Rate float64 // the allowed rate in requests a second; +Inf without a limit
	Most float64 // the lower of the caller's and the stated limit, in requests a second; +Inf for none
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
