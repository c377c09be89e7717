package client

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestAllowance(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits AllowanceLimits
		left   string // at first; what is charged is taken off
		charge bool   // whether the service charges
		want   int64  // requests
		flag   string
	}{
		{"requests", AllowanceLimits{MaxRequests: 50, Reserve: -1}, "unlimited", true, 50, "max-requests"},
		{"reserve", AllowanceLimits{Reserve: 30}, "100", true, 70, "reserve"},
		{"both, requests first", AllowanceLimits{MaxRequests: 50, Reserve: 30}, "100", true, 50, "max-requests"},
		{"both, reserve first", AllowanceLimits{MaxRequests: 90, Reserve: 30}, "100", true, 70, "reserve"},
		{"reserve, nothing to spend", AllowanceLimits{Reserve: 30}, "30", true, 0, "reserve"},
		{"reserve, nothing is charged", AllowanceLimits{MaxRequests: 500, Reserve: 90}, "100", false, 500, "max-requests"},
		{"reserve of an unlimited account", AllowanceLimits{MaxRequests: 500, Reserve: 90}, "unlimited", true, 500, "max-requests"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			account := Usage{Remaining: tt.left}
			left, isNumber := account.Requests()
			var charged, taken, made atomic.Int64
			a := NewAllowance(tt.limits, func(context.Context) (Usage, error) {
				if !isNumber {
					return account, nil
				}
				return Usage{Remaining: strconv.FormatInt(left-charged.Load(), 10)}, nil
			})
			var workers sync.WaitGroup
			for range 16 {
				workers.Go(func() {
					for {
						err := a.Take(t.Context())
						var spent *SpentError
						if errors.As(err, &spent) && spent.Limit == tt.flag {
							return
						}
						if err != nil {
							t.Errorf("got %v", err)
							return
						}
						if taken.Add(1)%7 == 0 {
							a.Return()
							continue
						}
						made.Add(1)
						if tt.charge {
							charged.Add(1)
						}
						a.Done()
					}
				})
			}
			workers.Wait()
			if made.Load() != tt.want {
				t.Errorf("%d requests, want %d", made.Load(), tt.want)
			}
		})
	}
}

func TestAllowanceOfAMuteAccount(t *testing.T) {
	broken := errors.New("broken")
	a := NewAllowance(AllowanceLimits{Reserve: 10}, func(context.Context) (Usage, error) { return Usage{}, broken })
	var spent *SpentError
	if err := a.Take(t.Context()); !errors.As(err, &spent) || !errors.Is(err, broken) {
		t.Errorf("got %v: a reserve that cannot be kept to must stop the run", err)
	}
}

func TestNilAllowanceAllowsEverything(t *testing.T) {
	a := NewAllowance(AllowanceLimits{Reserve: -1}, nil)
	if a != nil {
		t.Fatal("an allowance without limits")
	}
	if err := a.Take(t.Context()); err != nil {
		t.Error(err)
	}
	a.Return()
	a.Done()
}

func TestCostsAreLearned(t *testing.T) {
	for _, want := range []Costs{
		{Answer: 1, Rejection: 1, Failure: 0},
		{Answer: 1, Rejection: 0, Failure: 0},
		{Answer: 1, Rejection: 1, Failure: 1},
		{Answer: 2, Rejection: 0.5, Failure: 0},
	} {
		c := NewCosts()
		for i := range 40 {
			s := Spending{Answers: int64(100 + 13*(i%7)), Rejections: int64(5 + 11*(i%5)), Failures: int64(3 + 17*(i%3))}
			s.Spent = int64(math.Round(want.Answer*float64(s.Answers) + want.Rejection*float64(s.Rejections) + want.Failure*float64(s.Failures)))
			c.Observe(s)
		}
		for _, pair := range [][2]float64{{c.Answer, want.Answer}, {c.Rejection, want.Rejection}, {c.Failure, want.Failure}} {
			if math.Abs(pair[0]-pair[1]) > 0.02 {
				t.Errorf("got %.3f %.3f %.3f, want %v", c.Answer, c.Rejection, c.Failure, want)
				break
			}
		}
	}
}

func TestCostsBeforeAnythingIsKnown(t *testing.T) {
	c := NewCosts()
	if got := c.PerRecord(0, 0, 0); got != 1 {
		t.Errorf("a record costs %v", got)
	}
	c.Observe(Spending{Answers: 100, Spent: -1000}) // topped up
	if c.Answer != 1 {
		t.Errorf("an answer costs %v after the account was filled", c.Answer)
	}
}
