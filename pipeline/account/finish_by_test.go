package account

import (
	"testing"
	"time"
)

func TestFinishBy(t *testing.T) {
	day := func(day int, clock string) time.Time {
		at, err := time.ParseInLocation("15:04", clock, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 3, day, at.Hour(), at.Minute(), 0, 0, time.Local)
	}
	for name, tt := range map[string]struct {
		given        string
		began, start time.Time
		want         time.Time // the deadline of the start
	}{
		"first start":                      {"06:30", day(2, "22:00"), day(2, "22:00"), day(3, "06:30")},
		"again in the night":               {"06:30", day(2, "22:00"), day(3, "06:29"), day(3, "06:30")},
		"after the night":                  {"06:30", day(2, "22:00"), day(3, "06:30"), day(3, "06:30")},
		"in the day":                       {"06:30", day(2, "22:00"), day(3, "20:59"), day(3, "06:30")},
		"the next night, a little early":   {"06:30", day(2, "22:00"), day(3, "21:01"), day(4, "06:30")},
		"the next night":                   {"06:30", day(2, "22:00"), day(4, "03:00"), day(4, "06:30")},
		"after the next night":             {"06:30", day(2, "22:00"), day(4, "07:30"), day(4, "06:30")},
		"a week later":                     {"06:30", day(2, "22:00"), day(9, "23:00"), day(10, "06:30")},
		"later on the same day":            {"18:00", day(2, "08:00"), day(2, "18:30"), day(2, "18:00")},
		"a duration":                       {"8h", day(2, "22:00"), day(3, "07:00"), day(3, "06:00")},
		"a duration, the next night":       {"8h", day(2, "22:00"), day(3, "22:00"), day(4, "06:00")},
		"longer than a day":                {"30h", day(2, "22:00"), day(4, "03:00"), day(4, "04:00")},
		"after more than a day":            {"30h", day(2, "22:00"), day(4, "05:00"), day(4, "04:00")},
		"when more than a day begins anew": {"30h", day(2, "22:00"), day(4, "22:00"), day(6, "04:00")},
	} {
		t.Run(name, func(t *testing.T) {
			first, err := ParseFinishBy(tt.given, tt.began)
			if err != nil {
				t.Fatal(err)
			}
			stopped := EarlierRun{Started: tt.began, Ending: Ending(Deadline), FinishBy: &first}
			of := func(given string, earlier ...EarlierRun) time.Time {
				d, err := ParseFinishBy(given, tt.start)
				if err != nil {
					t.Fatal(err)
				}
				a := &Account{Started: tt.start, Earlier: earlier}
				a.SetDeadline(d)
				return a.FinishBy.At
			}
			if got := of(tt.given, stopped); !got.Equal(tt.want) {
				t.Errorf("until %v, want %v", got, tt.want)
			}
			if got := of(tt.given, stopped, EarlierRun{Started: tt.began, Ending: Killed}); !got.Equal(tt.want) {
				t.Errorf("after a start without a deadline: until %v, want %v", got, tt.want)
			}
			for what, got := range map[string]time.Time{
				"another deadline":     of("1m", stopped),
				"after a complete run": of("1m", EarlierRun{Started: tt.began, Ending: Complete, FinishBy: &FinishBy{Given: "1m", Began: tt.began, At: tt.began.Add(time.Minute)}}),
			} {
				if !got.Equal(tt.start.Add(time.Minute)) {
					t.Errorf("%s: until %v", what, got)
				}
			}
		})
	}
}
