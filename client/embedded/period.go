package embedded

import (
	"time"
	_ "time/tzdata" // Windows and small images have no time zones
)

// Period is how often a quota begins anew. The zero value means never.
type Period string

// The periods of a quota begin at midnight in the time zone of the key.
const (
	Daily   Period = "day"
	Weekly  Period = "week" // on Mondays
	Monthly Period = "month"
)

func (p Period) known() bool { return p == Daily || p == Weekly || p == Monthly }

// bounds returns the start and the end of the period that a time is in, in the time's zone.
func (p Period) bounds(t time.Time) (start, end time.Time) {
	midnight := func(month time.Month, day int) time.Time {
		start := time.Date(t.Year(), month, day, 0, 0, 0, 0, t.Location())
		if start.Hour() == 23 { // the clocks are put forward at midnight
			return start.Add(time.Hour)
		}
		return start
	}
	month, day := t.Month(), t.Day()
	switch p {
	case Weekly:
		monday := day - (int(t.Weekday())+6)%7
		return midnight(month, monday), midnight(month, monday+7)
	case Monthly:
		return midnight(month, 1), midnight(month+1, 1)
	}
	return midnight(month, day), midnight(month, day+1)
}
