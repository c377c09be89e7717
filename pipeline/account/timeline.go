package account

import (
	"time"
)

// Span is a part of the time of a run. Its counts are those of that time.
type Span struct {
	Start    int       `json:"start"` // the number of the start of the run, from 1
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	State    State     `json:"state"`
	Records  int64     `json:"records"`
	Requests int64     `json:"requests"`
	Outcomes Attempts  `json:"outcomes,omitempty"`
	Ending   Ending    `json:"ending,omitempty"` // if the start ended here
}

// Join adds the next span. The state is that of the longer one.
func (s *Span) Join(next Span) {
	if next.To.Sub(next.From) > s.To.Sub(s.From) {
		s.State = next.State
	}
	s.To, s.Ending = next.To, next.Ending
	s.Records += next.Records
	s.Requests += next.Requests
	if s.Outcomes == nil { // of a file
		s.Outcomes = Attempts{}
	}
	for class, n := range next.Outcomes {
		s.Outcomes[class] += n
	}
}
