package progress

import (
	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"math"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

func TestTotalIsEstimatedFromBytes(t *testing.T) {
	for name, tt := range map[string]struct{ read, total, limit, want int64 }{
		"a quarter of the bytes": {250, 1000, 0, 400},
		"all bytes":              {1000, 1000, 0, 100},
		"limited":                {250, 1000, 300, 300},
		"a pipe":                 {250, -1, 0, 0},
		"nothing read":           {0, 1000, 0, 0},
	} {
		if got, _ := new(Total).Of(readSoFar(100), tt.read, tt.total, tt.limit); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
	}
}

func readSoFar(records int64) *account.Snapshot {
	return &account.Snapshot{Counts: account.Counts[int64]{Read: records}}
}

// An estimate changes only by more than a tenth, and ends with the count.
func TestTotalDoesNotWobble(t *testing.T) {
	var records Total
	for i, tt := range []struct{ estimate, counted, limit, want int64 }{
		{0, 0, 0, 0}, {38567, 0, 0, 38567}, {39090, 0, 0, 38567}, {46498, 0, 0, 46498}, {43000, 0, 0, 46498}, {40621, 0, 0, 40621},
		{40621, 50000, 0, 50000}, {46498, 50000, 0, 50000}, {46498, 50000, 300, 300},
	} {
		if tt.counted > 0 {
			records.Set(tt.counted)
		}
		got, about := records.Of(readSoFar(tt.estimate), 1, 1, tt.limit)
		if got != tt.want || about != (tt.counted == 0 && got > 0) {
			t.Errorf("%d: got %d, %t, want %d", i, got, about, tt.want)
		}
	}
}

func TestStates(t *testing.T) {
	for want, tt := range map[account.State]struct {
		status    limits.Status
		finishing bool
	}{
		account.Asking:     {limits.Status{State: limits.Up}, false},
		account.Congested:  {limits.Status{State: limits.Doubt}, false},
		account.Outage:     {limits.Status{State: limits.Out}, false},
		account.Limited:    {limits.Status{State: limits.Limited}, false},
		account.QuotaPause: {limits.Status{State: limits.Out, Empty: true}, false},
		account.Finishing:  {limits.Status{State: limits.Out, Empty: true}, true},
	} {
		if got := StateOf(tt.status, tt.finishing); got != want {
			t.Errorf("%+v: got %s, want %s", tt.status, got, want)
		}
	}
}

// estimator makes an estimate each second.
type estimator struct {
	times    Estimator
	now      time.Time
	bounds   limits.Options
	finishBy time.Time
	status   limits.Status
	counters Counters
	p        Progress
}

func newEstimator() *estimator {
	x := &estimator{now: time.Now(), status: limits.Status{Most: math.Inf(1)}, p: Progress{Status: account.Status{State: account.Asking}, Counts: account.Snapshot{Counts: account.Counts[int64]{Classifications: 1}}}}
	x.estimate()
	return x
}

func (x *estimator) estimate() Progress {
	p := x.p
	p.Updated = x.now
	x.times.Estimate(&p, x.status, x.bounds, x.finishBy)
	return p
}

// second lets the run look up records, some of which need a request, and end requests.
func (x *estimator) second(lookedUp, needed, ended int64) Progress {
	c := &x.p.Counts
	x.now = x.now.Add(time.Second)
	for block := lookedUp; block > 0; block -= 256 {
		x.counters.CountLookups(int(min(block, 256)), int(min(block, 256)*needed/lookedUp))
	}
	c.New = x.counters.Snapshot().New
	c.LookedUp += lookedUp
	c.Needed += needed
	c.Ended += ended
	c.Requests += ended
	c.OK += lookedUp - needed + ended
	c.Recalled += lookedUp - needed
	return x.estimate()
}

func wantLeft(t *testing.T, p Progress, want time.Duration, stop account.Cause) {
	t.Helper()
	if math.Abs(p.SecondsLeft-want.Seconds()) > 0.02*want.Seconds() || p.Stop != stop {
		t.Errorf("%v s left, then %q; want %v and %q", p.SecondsLeft, p.Stop, want, stop)
	}
}

// Stored answers take no time, wherever in the list they are.
func TestTimeLeftIsThatOfRequests(t *testing.T) {
	t.Run("beginning stored", func(t *testing.T) {
		x := newEstimator()
		x.p.Total = 10_000_000
		for range 20 {
			if p := x.second(250_000, 0, 0); p.SecondsLeft != 0 {
				t.Fatalf("%v s left before a request", p.SecondsLeft)
			}
		}
		x.second(100_000, 100_000, 100)
		for range 59 {
			x.second(100, 100, 100)
		}
		wantLeft(t, x.second(100, 100, 100), (5_000_000-6_100)/100*time.Second, "")
	})
	t.Run("every third stored", func(t *testing.T) {
		x := newEstimator()
		x.p.Total = 1_000_000
		for range 60 {
			x.second(150, 100, 100)
		}
		wantLeft(t, x.second(150, 100, 100), (1_000_000-9_150)*2/3/100*time.Second, "")
	})
}

func TestRateIsThatOfTheLastMinute(t *testing.T) {
	x := newEstimator()
	x.p.Total = 1_000_000
	x.second(1_000_000, 1_000_000, 1000) // at once
	for range 62 {
		x.second(0, 0, 10)
	}
	if p := x.second(0, 0, 10); math.Abs(p.RequestsPerSecond-10) > 0.11 || math.Abs(p.RecordsPerSecond-10) > 0.11 {
		t.Errorf("got %v requests and %v records a second, want 10", p.RequestsPerSecond, p.RecordsPerSecond)
	}
	if n := len(x.times.samples); n > 65 {
		t.Errorf("%d samples are kept", n)
	}
}

func TestSlowServiceIsMeasuredForLonger(t *testing.T) {
	x := newEstimator()
	x.p.Total = 100
	x.second(100, 100, 0)
	for i := range int64(300) {
		x.second(0, 0, (i+1)/7-i/7)
	}
	if p := x.second(0, 0, 0); p.RequestsPerSecond != 0.1 {
		t.Errorf("got %v requests a second, want one in 7 seconds", p.RequestsPerSecond)
	}
}

func TestTimeLeftFollowsAStatedLimitAtOnce(t *testing.T) {
	x := newEstimator()
	x.p.Total = 100_000
	x.second(100_000, 100_000, 100)
	for range 60 {
		x.second(0, 0, 100)
	}
	x.status.Most = 20
	wantLeft(t, x.second(0, 0, 20), (100_000-6_120)/20*time.Second, "")
}

func TestWhatEndsTheRequestsFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(x *estimator)
		want   time.Duration
		stop   account.Cause
	}{
		"nothing":      {func(x *estimator) {}, 940 * time.Second, ""},
		"enough quota": {func(x *estimator) { x.p.Quota = new(int64(9_400)) }, 940 * time.Second, ""},
		"quota":        {func(x *estimator) { x.p.Quota = new(int64(1_000)) }, 100 * time.Second, account.QuotaExhausted},
		"reserve": {func(x *estimator) {
			x.p.Quota = new(int64(1_000))
			x.bounds.KeepReserve, x.bounds.Reserve = true, 500
		}, 50 * time.Second, account.QuotaExhausted},
		"most requests":  {func(x *estimator) { x.bounds.MaxRequests = 1_600 }, 100 * time.Second, account.Budget},
		"with retries":   {func(x *estimator) { x.bounds.MaxRequests = 3_200; x.p.Counts.Requests *= 2 }, 100 * time.Second, account.Budget},
		"deadline":       {func(x *estimator) { x.finishBy = x.now.Add(time.Minute) }, time.Minute, account.Deadline},
		"later deadline": {func(x *estimator) { x.finishBy = x.now.Add(time.Hour) }, 940 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newEstimator()
			x.p.Total = 10_000
			x.second(10_000, 10_000, 10)
			for range 59 {
				x.second(0, 0, 10)
			}
			tt.change(x)
			wantLeft(t, x.estimate(), tt.want, tt.stop)
		})
	}
}

// Only a run that the service holds up says why, when the service is asked next, and when an outage ends the run.
func TestWaits(t *testing.T) {
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := limits.Status{Since: last, Next: last.Add(time.Hour)}
	cause := &client.Error{Class: client.Transient, Status: 503}
	for _, tt := range []struct {
		name   string
		state  limits.ServiceState
		most   time.Duration
		waits  bool
		giveUp time.Time
	}{
		{"asking", limits.Up, time.Hour, false, time.Time{}},
		{"limited", limits.Limited, time.Hour, true, time.Time{}},
		{"outage", limits.Out, 2 * time.Hour, true, last.Add(2 * time.Hour)},
		{"outage without a bound", limits.Out, 0, true, time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var status Progress
			s.State = tt.state
			status.Follow(s, cause, tt.most)
			if (status.Cause == cause.Error()) != tt.waits || (status.Next != nil && status.Next.Equal(s.Next)) != tt.waits {
				t.Errorf("cause %q, next %v", status.Cause, status.Next)
			}
			if (status.GiveUp == nil) != tt.giveUp.IsZero() || status.GiveUp != nil && !status.GiveUp.Equal(tt.giveUp) {
				t.Errorf("gives up at %v, want %v", status.GiveUp, tt.giveUp)
			}
		})
	}
}

// The cost at the end has the attempts of the records to come, unless a limit ends the run before.
func TestCostAtEnd(t *testing.T) {
	price := money.Price{Request: 10, Currency: "EUR"}
	for _, tt := range []struct {
		name  string
		total int64
		stop  account.Cause
		want  money.Amount
	}{
		{"half way", 200, "", price.Of(110 + 110)},
		{"of unknown length", 0, "", 0},
		{"a limit is before the end", 200, account.QuotaExhausted, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Progress{Status: account.Status{Total: tt.total, Stop: tt.stop, Cost: &money.Cost{Price: price, Total: price.Of(110)}}}
			p.Counts.Requests, p.Counts.Ended, p.Counts.Needed, p.Counts.LookedUp, p.Counts.New = 110, 100, 100, 100, 1
			if p.Foresee(); (p.CostAtEnd == nil) != (tt.want == 0) || p.CostAtEnd != nil && *p.CostAtEnd != tt.want {
				t.Errorf("got %v, want %v", p.CostAtEnd, tt.want)
			}
		})
	}
}
