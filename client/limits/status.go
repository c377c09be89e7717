package limits

import (
	"time"
)

// Status is the state of a Controller at one moment.
type Status struct {
	State ServiceState // of the service
	Since time.Time    // of an outage: when the service last answered; zero while there is none
	Empty bool         // the quota is used up, and the run waits
	Rate  float64      // the present rate in requests a second; +Inf without a limit
	Most  float64      // the limit of the caller or of the service, in requests a second; +Inf for none
}

// Status returns the present state.
func (c *Controller) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Status{State: c.health.state, Empty: c.budget.empty, Rate: c.pace.rate, Most: c.pace.most()}
	if s.State == Out {
		s.Since = c.health.since
	}
	return s
}
