package embedded

import (
	"time"
	_ "time/tzdata" // Windows and small images have no time zones
)

// Period is the period after which a quota is renewed. The zero value means never.
type Period string

// The periods of a quota begin at midnight in the time zone of the key.
const (
	Daily   Period = "day"
	Weekly  Period = "week" // on Mondays
	Monthly Period = "month"
)

func (p Period) known() bool { return p == Daily || p == Weekly || p == Monthly }

// bounds returns the start and the end of the period around t, in the zone of t.
func (p Period) bounds(t time.Time) (start, end time.Time) {
	first := func(month time.Month, day int) time.Time { return firstMoment(t.Year(), month, day, t.Location()) }
	month, day := t.Month(), t.Day()
	switch p {
	case Weekly:
		monday := day - (int(t.Weekday())+6)%7
		return first(month, monday), first(month, monday+7)
	case Monthly:
		return first(month, 1), first(month+1, 1)
	}
	return first(month, day), first(month, day+1)
}

// firstMoment returns the start of a day. In some zones the clocks change at midnight, and a day has no midnight, or two. A
// zone that moved across the date line skipped a day: this day starts and ends at the same moment.
func firstMoment(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, zone)
	changed, next := midnight.ZoneBounds()
	// If there is no midnight, time.Date returns a time before or after the change of the clocks.
	wanted := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateTime)
	switch got := midnight.Format(time.DateTime); {
	case got < wanted:
		return next
	case got > wanted:
		return changed
	case changed.IsZero():
		return midnight
	}
	_, before := changed.Add(-1).Zone()
	_, after := changed.Zone()
	if earlier := midnight.Add(time.Duration(after-before) * time.Second); after < before && earlier.Before(changed) {
		return earlier
	}
	return midnight
}
