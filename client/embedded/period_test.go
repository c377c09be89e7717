package embedded

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestPeriods(t *testing.T) {
	tests := []struct {
		name       string
		period     Period
		zone, now  string
		start, end string
	}{
		{"a day", Daily, "UTC", "2026-11-25T08:00:00Z", "2026-11-25T00:00:00Z", "2026-11-26T00:00:00Z"},
		{"the first moment of a day", Daily, "UTC", "2026-11-25T00:00:00Z", "2026-11-25T00:00:00Z", "2026-11-26T00:00:00Z"},
		{"a day in another zone", Daily, "Asia/Tokyo", "2026-11-25T16:00:00Z", "2026-11-26T00:00:00+09:00", "2026-11-27T00:00:00+09:00"},
		{"a day of 23 hours", Daily, "Europe/Berlin", "2026-03-29T10:00:00Z", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		{"a day of 25 hours", Daily, "Europe/Berlin", "2026-10-25T10:00:00Z", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		{"a day without a midnight", Daily, "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
		{"a second midnight", Daily, "Asia/Amman", "2015-10-29T21:30:00Z", "2015-10-30T00:00:00+03:00", "2015-10-31T00:00:00+02:00"},
		{"an hour before midnight that comes twice", Daily, "Asia/Tehran", "2021-09-21T19:45:00Z", "2021-09-21T00:00:00+04:30", "2021-09-22T00:00:00+03:30"},
		{"a day that begins at one", Daily, "Asia/Tehran", "2022-03-21T20:30:00Z", "2022-03-22T01:00:00+04:30", "2022-03-23T00:00:00+04:30"},
		{"a week", Weekly, "UTC", "2026-11-25T08:00:00Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"a Sunday", Weekly, "UTC", "2026-11-29T23:59:59Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"a Monday", Weekly, "UTC", "2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z"},
		{"a month", Monthly, "Europe/Berlin", "2026-11-30T22:59:59Z", "2026-11-01T00:00:00+01:00", "2026-12-01T00:00:00+01:00"},
		{"the last day of a long month", Monthly, "UTC", "2027-01-31T12:00:00Z", "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"},
		{"the last month of a year", Monthly, "UTC", "2026-12-31T12:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			zone, err := time.LoadLocation(tt.zone)
			now, errNow := time.Parse(time.RFC3339, tt.now)
			if err := errors.Join(err, errNow); err != nil {
				t.Fatal(err)
			}
			start, end := tt.period.bounds(now.In(zone))
			if got := start.Format(time.RFC3339); got != tt.start {
				t.Errorf("start %s, want %s", got, tt.start)
			}
			if got := end.Format(time.RFC3339); got != tt.end {
				t.Errorf("end %s, want %s", got, tt.end)
			}
		})
	}
}

// Periods follow each other without gaps, also where the clocks change at midnight.
func TestPeriodsFollowEachOther(t *testing.T) {
	for _, name := range []string{"Asia/Tehran", "America/Sao_Paulo", "Asia/Amman", "Asia/Beirut", "America/Havana", "Africa/Cairo", "Atlantic/Azores", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, period := range []Period{Daily, Weekly, Monthly} {
			begins, ends := period.bounds(time.Date(1995, 1, 1, 12, 0, 0, 0, zone))
			for begins.Year() < 2030 {
				for _, at := range []time.Time{begins, begins.Add(90 * time.Minute), ends.Add(-90 * time.Minute), ends.Add(-1)} {
					if b, e := period.bounds(at.In(zone)); !b.Equal(begins) || !e.Equal(ends) {
						t.Fatalf("%s, %v is in %v to %v, want %v to %v", name, at.In(zone), b, e, begins, ends)
					}
				}
				next, end := period.bounds(ends.In(zone))
				if !next.Equal(ends) {
					t.Fatalf("%s: after %v comes %v", name, ends, next)
				}
				begins, ends = next, end
			}
		}
	}
}

// A quota of a day begins anew at midnight in its zone, also while the service does not run, and a restart gives nothing back.
func TestAQuotaOfADayBeginsAnew(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // it is 2000-01-01 00:00 UTC, 01:00 in Berlin
		notes := new(memory)
		steps := []struct {
			name    string
			after   time.Duration
			restart bool
			uses    int
			left    int64
		}{
			{"the first day", 0, false, 3, 2},
			{"a restart", time.Hour, true, 0, 2},
			{"before midnight", 21*time.Hour + 59*time.Minute, false, 2, 0},
			{"after midnight", 2 * time.Minute, false, 1, 4},
			{"a restart on the third day", 24 * time.Hour, true, 4, 1},
		}
		var s *Service
		for _, step := range steps {
			time.Sleep(step.after)
			if s == nil || step.restart {
				if s != nil {
					save(t, s)
				}
				s = lent(New(Options{Grants: []Grant{{Key: "secret", Quota: 5, Period: Daily, Zone: berlin}}, Ledger: openLedger(t, notes), Logger: quiet}))
			}
			useUp(t, s, step.uses)
			if got := leftOf(t, s); got != step.left {
				t.Fatalf("%s: %d left, want %d", step.name, got, step.left)
			}
		}
	})
}

func TestARefusalSaysWhenThereIsQuotaAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, want := range map[string]string{"secret": "86400", "forever": ""} {
			s := lent(New(Options{Grants: []Grant{{Key: "secret", Quota: 0, Period: Daily, Name: "a"}, {Key: "forever", Quota: 0, Name: "b"}}, Logger: quiet}))
			r := httptest.NewRequest(http.MethodGet, target(ProductPath, "query", "sofa"), nil)
			r.Header.Set("x-api-key", name)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if got := w.Header().Get("Retry-After"); w.Code != http.StatusPaymentRequired || got != want {
				t.Errorf("%s: status %d, Retry-After %q, want %q", name, w.Code, got, want)
			}
		}
	})
}

// An answer that was reserved before midnight and is charged after it belongs to the new day.
func TestAReservedAnswerAtMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIKey(Grant{Key: "secret", Quota: 2, Period: Daily})
		for i, want := range []bool{true, true, false} {
			if a.Reserve() != want {
				t.Fatalf("answer %d of a quota of 2: want %v", i+1, want)
			}
		}
		a.charge()
		time.Sleep(25 * time.Hour)
		for i, want := range []bool{true, false} {
			if a.Reserve() != want {
				t.Errorf("answer %d beside a reserved one: want %v", i+1, want)
			}
		}
		a.charge()
		a.charge()
		if left := a.left(); left != 0 {
			t.Errorf("%d left, want 0", left)
		}
	})
}

// A change of the zone or of the period gives nothing twice, and a clock that was ahead does not block a key for long.
func TestChangesOfAPeriod(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // it is 2000-01-01 00:00 UTC
		time.Sleep(40*24*time.Hour + 10*time.Hour) // February 10
		now := time.Now().Unix()
		tests := []struct {
			name   string
			used   usage
			period Period
			zone   *time.Location
			left   Quota
		}{
			{"another zone", usage{4, now}, Monthly, tokyo, 1},
			{"a zone whose day has begun before", usage{4, now - 2*3600}, Daily, tokyo, 1},
			{"a month in place of a day", usage{4, now - 7200}, Monthly, time.UTC, 1},
			{"the month before", usage{4, now - 30*24*3600}, Monthly, time.UTC, 5},
			{"a clock that was ahead", usage{4, now + 4*365*24*3600}, Daily, time.UTC, 1},
		}
		for _, tt := range tests {
			a := newAPIKey(Grant{Key: "secret", Quota: 5, Period: tt.period, Zone: tt.zone})
			a.used = tt.used
			if got := a.left(); got != tt.left {
				t.Errorf("%s: %d left, want %d", tt.name, got, tt.left)
			}
		}
		a := newAPIKey(Grant{Key: "secret", Quota: 5, Period: Daily})
		a.used = usage{4, now + 4*365*24*3600}
		a.left()
		time.Sleep(24 * time.Hour)
		if got := a.left(); got != 5 {
			t.Errorf("a day after the clock was ahead %d are left, want 5", got)
		}
	})
}
