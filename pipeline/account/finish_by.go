package account

import (
	"fmt"
	"time"
)

// FinishBy is the deadline of a run. A run that is started again keeps the deadline of its first start, so that a start after
// the deadline asks for nothing. A run that is not complete by then may continue each day in the same hours: from the time of
// day of its first start to the time of day of its deadline.
type FinishBy struct {
	Given string    `json:"given,omitempty"` // a time of day such as 06:30, or a duration such as 8h; "" for a deadline of this start alone
	Began time.Time `json:"began"`           // the beginning of the hours
	At    time.Time `json:"at"`              // the deadline: the end of the hours
}

// early is how long before the next hours a start belongs to them: schedulers are not punctual.
const early = time.Hour

// ParseFinishBy parses a time of day or a duration, for a run that begins at the time began.
func ParseFinishBy(text string, began time.Time) (FinishBy, error) {
	d := FinishBy{Given: text, Began: began}
	if clock, err := time.Parse("15:04", text); err == nil {
		d.At = time.Date(began.Year(), began.Month(), began.Day(), clock.Hour(), clock.Minute(), 0, 0, began.Location())
		if !d.At.After(began) {
			d.At = d.At.AddDate(0, 0, 1)
		}
		return d, nil
	}
	if took, err := time.ParseDuration(text); err == nil && took > 0 {
		d.At = began.Add(took)
		return d, nil
	}
	return FinishBy{}, fmt.Errorf("%q is neither a time of day nor a duration: write 07:00 or 8h", text)
}

// Deadline returns At; zero for nil.
func (d *FinishBy) Deadline() time.Time {
	if d == nil {
		return time.Time{}
	}
	return d.At
}

// IsZero reports whether there is no deadline.
func (d FinishBy) IsZero() bool { return d.At.IsZero() }

// Next returns the next hours: those of the first day on which the hours begin, less early, after At.
func (d FinishBy) Next() FinishBy {
	began, at := d.Began.Local(), d.At.Local() // a time from a file does not know when clocks change
	for days := 1; ; days++ {
		if next := began.AddDate(0, 0, days); next.Add(-early).After(at) {
			return FinishBy{Given: d.Given, Began: next, At: at.AddDate(0, 0, days)}
		}
	}
}

// of returns the hours to which a start belongs, or the last hours that began before the start.
func (d FinishBy) of(start time.Time) FinishBy {
	for {
		next := d.Next()
		if start.Before(next.Began.Add(-early)) {
			return d
		}
		d = next
	}
}

// PassedError says that a run was started again after its deadline.
type PassedError struct {
	FinishBy FinishBy
}

func (e *PassedError) Error() string {
	const minute = "Jan 2 15:04"
	text := "the deadline of the run, " + e.FinishBy.At.Local().Format(minute) + ", has passed"
	if e.FinishBy.Given != "" {
		text += "; a start from " + e.FinishBy.Next().Began.Local().Format(minute) + " on continues until " + e.FinishBy.Next().At.Local().Format("15:04")
	}
	return text
}

// OptionName returns "pipeline.FinishBy".
func (e *PassedError) OptionName() string { return "pipeline.FinishBy" }
