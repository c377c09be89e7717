package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// wholeRun is a run against a faulty service, with limits, retries and a store.
type wholeRun struct {
	server  *clienttest.Server
	limits  limits.Options
	timeout time.Duration
	inputs  []string
	pause   time.Duration // before each input is read
	files   string        // of the store

	counters *progress.Counters
	sink     *rows
	client   *client.HTTP
	control  *limits.Controller
}

func newWholeRun(options clienttest.Options, inputs int) *wholeRun {
	return &wholeRun{
		server: clienttest.New(options), inputs: numbered(inputs),
		limits: limits.Options{InFlight: 64, CanAsk: true, MaxOutage: 6 * time.Hour}, timeout: 30 * time.Second,
	}
}

// run runs over pipes, in synthetic time.
func (n *wholeRun) run(t *testing.T) error {
	t.Helper()
	dial, close := n.server.Pipe()
	defer close()
	return n.runAt(t, "http://service", dial)
}

func (n *wholeRun) runAt(t *testing.T, baseURL string, dial func(ctx context.Context, network, address string) (net.Conn, error)) error {
	t.Helper()
	n.files = cmp.Or(n.files, t.TempDir())
	c, err := client.New(client.Options{BaseURL: baseURL, Dial: dial, Timeout: n.timeout, Connections: n.limits.InFlight})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	store, err := answers.Open(answers.Options{Path: filepath.Join(n.files, "answers.db"), Source: c.Source()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n.counters, n.sink, n.client, n.control = new(progress.Counters), new(rows), c, limits.New(n.limits, time.Now())
	parts := Parts{
		Source: &records{inputs: n.inputs, pause: n.pause}, Attempter: c, CloseIdle: c.Close, Store: store, Sink: n.sink, Counters: n.counters,
		Limits: n.control, Usage: c.Usage,
	}
	_, err = Run(t.Context(), parts, Options{
		Kind: client.Product, Classifications: []Classification{{Name: client.ProductTaxonomy}},
		Conduct: Conduct{Retry: client.DefaultRetryPolicy()}, WaitForQuota: n.limits.WaitForQuota,
	})
	return err
}

// checkRows wants the right rows of every input: two categories, or a rejection where
// the service has no such input.
func (n *wholeRun) checkRows(t *testing.T) {
	t.Helper()
	var want []string
	for i, input := range n.inputs {
		if n.server.Missing(input) {
			want = append(want, fmt.Sprintf("%d rejected  HTTP 404 Not Found: no such site", i+1))
			continue
		}
		want = append(want, fmt.Sprintf("%d ok %s", i+1, clienttest.Value(input)), fmt.Sprintf("%d ok Everything", i+1))
	}
	if len(n.sink.lines) != len(want) {
		t.Errorf("%d rows, want %d", len(n.sink.lines), len(want))
	}
	for i := range min(len(want), len(n.sink.lines)) {
		if n.sink.lines[i] != want[i] {
			t.Fatalf("row %d is %q, want %q", i+1, n.sink.lines[i], want[i])
		}
	}
}

// checkAudit wants that no input was asked again after a sound answer.
func (n *wholeRun) checkAudit(t *testing.T) {
	t.Helper()
	for input, r := range n.server.Audit().Inputs {
		if r.Answers > 1 {
			t.Errorf("%q was answered %d times", input, r.Answers)
		}
	}
}

var everyFault = map[clienttest.Fault]float64{
	clienttest.Error500: 0.02, clienttest.Error503: 0.02, clienttest.Reset: 0.02, clienttest.Truncated: 0.02,
	clienttest.HTML: 0.02, clienttest.Slow: 0.02, clienttest.Hang: 0.005, clienttest.Calculating: 0.005,
}

// socketFaults are the faults that need no time limit. A request that hangs ends at the client's
// time limit: over a real socket, an answer that a busy machine sends after the limit would be
// paid for twice. TestEveryFaultInSyntheticTime covers hanging requests.
var socketFaults = func() map[clienttest.Fault]float64 {
	faults := maps.Clone(everyFault)
	delete(faults, clienttest.Hang)
	return faults
}()

// noTimeLimit is longer than any test runs.
const noTimeLimit = time.Hour

func TestEveryFaultOverRealSockets(t *testing.T) {
	n := newWholeRun(clienttest.Options{Seed: 7, Faults: socketFaults, Missing: 0.01}, 3000)
	n.timeout = noTimeLimit
	n.limits.Rate = 2000
	baseURL, close := n.server.Listen()
	defer close()
	if err := n.runAt(t, baseURL, nil); err != nil {
		t.Fatal(err)
	}
	n.checkRows(t)
	n.checkAudit(t)
	if c := n.counters.Snapshot(); c.Failed != 0 || c.Rejected == 0 || c.Retries == 0 {
		t.Errorf("got %+v", c)
	}
}

func TestEveryFaultInSyntheticTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWholeRun(clienttest.Options{Seed: 8, Faults: everyFault, Missing: 0.01, Latency: 20 * time.Millisecond, Jitter: 50 * time.Millisecond}, 2000)
		n.limits.Rate = 200
		start := time.Now()
		if err := n.run(t); err != nil {
			t.Fatal(err)
		}
		n.checkRows(t)
		n.checkAudit(t)
		// 2,280 requests at 200/s are 11 s; waiting for retries may add the last backoffs
		// and a hang or two, but workers that were held by them would add minutes.
		if took := time.Since(start); took > 90*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestUnknownLimitLosesNothing(t *testing.T) {
	for _, tt := range []struct {
		style clienttest.Style
		limit int // requests a second
	}{{clienttest.Absent, 100}, {clienttest.Seconds, 150}, {clienttest.Date, 100}} {
		t.Run("retry after "+string(tt.style), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := float64(tt.limit)
				n := newWholeRun(clienttest.Options{
					Limiter: &clienttest.Bucket{Rate: limit, Burst: limit / 10}, Refusal: clienttest.Refusal{Style: tt.style},
					Latency: 50 * time.Millisecond, Jitter: 40 * time.Millisecond,
				}, 22*tt.limit)
				start := time.Now()
				if err := n.run(t); err != nil {
					t.Fatal(err)
				}
				n.checkRows(t)
				n.checkAudit(t)
				audit := n.server.Audit()
				arrivals := audit.Arrivals[:len(audit.Arrivals)*95/100] // the last wait as the service says
				var late, last = 0, arrivals[len(arrivals)-1].Sub(start)
				for _, at := range arrivals {
					if at.Sub(start) > 10*time.Second {
						late++
					}
				}
				if use := float64(late) / limit / (last - 10*time.Second).Seconds(); use < 0.95 {
					t.Errorf("%.1f%% of the limit was used after the first 10 s", 100*use)
				}
				if share := float64(audit.Refused) / float64(len(audit.Arrivals)); share >= 0.08 { // nearly all of them at the start, when the rate doubles
					t.Errorf("%.2f%% of the requests were refused", 100*share)
				}
				if learned := n.control.Learned().Rate; learned < 0.7*limit || learned > 1.2*limit { // the next run starts with the rate, which each of the last cuts may have lowered by 5%
					t.Errorf("learned %.0f/s of %.0f/s", learned, limit)
				}
			})
		})
	}
}

func TestFixedRateIsAPromise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, seconds = 200, 10
		n := newWholeRun(clienttest.Options{Latency: 80 * time.Millisecond}, rate*seconds)
		n.limits.Rate = rate
		if err := n.run(t); err != nil {
			t.Fatal(err)
		}
		arrivals := n.server.Audit().Arrivals
		for i, first := 0, 0; i < len(arrivals); i++ {
			for arrivals[i].Sub(arrivals[first]) >= time.Second {
				first++
			}
			if i-first+1 > rate+1 {
				t.Fatalf("%d requests in the second up to number %d", i-first+1, i+1)
			}
		}
		took := arrivals[len(arrivals)-1].Sub(arrivals[0])
		if use := float64(len(arrivals)) / rate / took.Seconds(); use < 0.98 || use > 1.001 {
			t.Errorf("%d requests in %v: %.1f%% of the rate", len(arrivals), took, 100*use)
		}
	})
}

func TestQuotaInEveryGuise(t *testing.T) {
	const quota, inputs = 200, 600
	for _, tt := range []struct {
		status int
		body   string
		broken bool // usage fails
	}{
		{401, "", false}, {402, "", false}, {403, "", false}, {429, "", false}, {503, "", false}, {509, "", false},
		{403, `{"message":"Monthly quota exceeded"}`, true}, {429, `{"error":{"message":"You have no credits left"}}`, true},
	} {
		t.Run(fmt.Sprintf("%d usage broken %t", tt.status, tt.broken), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newWholeRun(clienttest.Options{
					Quota: quota, QuotaStatus: tt.status, QuotaBody: tt.body, UsageBroken: tt.broken, Latency: 50 * time.Millisecond,
				}, inputs)
				n.limits.Rate, n.limits.InFlight = 400, 32
				stop, ok := errors.AsType[*StopError](n.run(t))
				if !ok || stop.Cause != account.QuotaExhausted {
					t.Fatalf("got %v", stop)
				}
				first := n.server.Audit()
				if first.Answers < quota || first.Late > n.limits.InFlight {
					t.Errorf("%d answers, %d requests after the end", first.Answers, first.Late)
				}
				n.server.Refill(2 * inputs)
				if err := n.run(t); err != nil {
					t.Fatal(err)
				}
				n.checkRows(t)
				n.checkAudit(t)
				if again := len(n.server.Audit().Arrivals) - len(first.Arrivals); again != inputs-int(first.Answers) {
					t.Errorf("the second run asked %d times, want %d", again, inputs-first.Answers)
				}
			})
		})
	}
}

// A key that is replaced during a run is refused for a while. A key that stays refused ends the run.
func TestReplacedKey(t *testing.T) {
	for _, tt := range []struct {
		name   string
		from   time.Duration // since the start of the run
		lasts  time.Duration
		refuse bool // the run ends with an error of the key
	}{
		{"half a minute", 2 * time.Second, 30 * time.Second, false},
		{"at the start", 0, 30 * time.Second, true},
		{"for good", 2 * time.Second, time.Hour, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				n := newWholeRun(clienttest.Options{Latency: 50 * time.Millisecond, Revoked: func() bool {
					since := time.Since(start)
					return since >= tt.from && since < tt.from+tt.lasts
				}}, 1000)
				n.limits.Rate = 50
				err := n.run(t)
				took := time.Since(start)
				if _, isService := errors.AsType[*ServiceError](err); isService != tt.refuse || !isService && err != nil {
					t.Fatal(err)
				}
				if most := tt.from + min(tt.lasts, time.Minute) + 40*time.Second; took > most {
					t.Errorf("took %v, at most %v", took, most)
				}
				if n.checkAudit(t); err == nil {
					n.checkRows(t)
				}
			})
		})
	}
}

func TestWaitForQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWholeRun(clienttest.Options{Quota: 100, QuotaStatus: 429, Latency: 50 * time.Millisecond}, 300)
		n.limits.Rate, n.limits.InFlight = 50, 8
		n.limits.WaitForQuota = true
		time.AfterFunc(3*time.Hour, func() { n.server.Refill(1000) })
		start := time.Now()
		if err := n.run(t); err != nil {
			t.Fatal(err)
		}
		n.checkRows(t)
		n.checkAudit(t)
		if took := time.Since(start); took < 3*time.Hour || took > 3*time.Hour+11*time.Minute {
			t.Errorf("took %v", took)
		}
		if late := n.server.Audit().Late; late > 8 {
			t.Errorf("%d requests while nothing was left", late)
		}
	})
}

// The run also waits while only the reserve is left, and a request for the quota may fail.
func TestWaitForTheReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWholeRun(clienttest.Options{Quota: 150, Latency: 50 * time.Millisecond}, 300)
		n.limits.Rate, n.limits.InFlight = 50, 8
		n.limits.KeepReserve, n.limits.Reserve = true, 50
		n.limits.WaitForQuota = true
		time.AfterFunc(3*time.Hour, func() { n.server.Refill(1000) })
		start := time.Now()
		if err := n.run(t); err != nil {
			t.Fatal(err)
		}
		n.checkRows(t)
		n.checkAudit(t)
		if took := time.Since(start); took < 3*time.Hour || took > 3*time.Hour+11*time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

// Two responses with 202 for each input do not slow the run down.
func TestServiceThatCalculates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(2000)...)
		x.limits.InFlight = 32
		x.service.answer = func(ctx context.Context, _ string, attempt int) error {
			if err := wait(ctx, 10*time.Millisecond); err != nil || attempt > 2 {
				return err
			}
			return &client.Error{Class: client.Transient, Status: http.StatusAccepted}
		}
		start := time.Now()
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
		if s := x.counters.Snapshot(); s.OK != 2000 {
			t.Errorf("%+v", s)
		}
	})
}

func TestOutageIsWaitedOut(t *testing.T) {
	for name, status := range map[string]int{"down": 503, "ban": 403} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { waitOut(t, status) }) })
	}
}

func waitOut(t *testing.T, status int) {
	start := time.Now()
	down := func() bool { d := time.Since(start); return d > 20*time.Second && d < 20*time.Second+10*time.Minute }
	n := newWholeRun(clienttest.Options{Down: down, DownStatus: status, Latency: 50 * time.Millisecond}, 1500) // a good third after the outage
	n.limits.Rate, n.limits.InFlight = 50, 32
	if err := n.run(t); err != nil {
		t.Fatal(err)
	}
	n.checkRows(t)
	n.checkAudit(t)
	meanwhile := 0
	for _, at := range n.server.Audit().Arrivals {
		if d := at.Sub(start); d > 20*time.Second && d < 20*time.Second+10*time.Minute {
			meanwhile++
		}
	}
	if meanwhile >= 80 {
		t.Errorf("%d requests during the outage", meanwhile)
	}
	if took := time.Since(start); took > 14*time.Minute {
		t.Errorf("took %v", took)
	}
}

// A run that is resumed while the service refuses everything waits: the stored answers prove the key.
func TestResumeDuringABlock(t *testing.T) {
	for _, status := range []int{403, 429, 503} {
		synctest.Test(t, func(t *testing.T) {
			var until time.Time
			n := newWholeRun(clienttest.Options{Down: func() bool { return time.Now().Before(until) }, DownStatus: status, Latency: 50 * time.Millisecond}, 60)
			all := n.inputs
			n.inputs = all[:20]
			if err := n.run(t); err != nil {
				t.Fatal(err)
			}
			n.inputs, until = all, time.Now().Add(time.Minute)
			if err := n.run(t); err != nil {
				t.Fatalf("%d: %v", status, err)
			}
			n.checkRows(t)
			n.checkAudit(t)
			if waited := time.Since(until); waited < 0 || waited > 20*time.Second {
				t.Errorf("%d: ended %v after the block", status, waited)
			}
		})
	}
}

func TestOutageThatIsTooLongStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWholeRun(clienttest.Options{Down: func() bool { return true }}, 100)
		start := time.Now()
		stop, ok := errors.AsType[*StopError](n.run(t))
		if !ok || stop.Cause != account.OutageTooLong || !strings.Contains(stop.Error(), "out for 6h0m0s") || !strings.Contains(stop.Error(), "HTTP 503") {
			t.Errorf("got %v", stop)
		}
		if took := time.Since(start); took < 6*time.Hour || took > 6*time.Hour+time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

func TestRecordThatAlwaysFailsIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun("bad", "good")
		x.options.Retry.MaxAttempts = 8
		x.service.answer = func(_ context.Context, input string, _ int) error {
			if input == "bad" {
				return &client.Error{Class: client.Transient, Status: 500}
			}
			return nil
		}
		start := time.Now()
		if err := x.run(t.Context()); err != nil || x.counters.Failed.Load() != 1 {
			t.Errorf("got %v, %d failed", err, x.counters.Failed.Load())
		}
		if took := time.Since(start); took > 3*time.Minute || x.service.attempts["bad"] != 8 {
			t.Errorf("took %v and %d attempts", took, x.service.attempts["bad"])
		}
	})
}

// While first attempts wait, retries are at most half of them and a burst of 8. Without this
// budget nearly all retries of the 45% of requests that fail would precede the last first attempt.
func TestRetriesKeepToTheirBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inputs = 1000
		x := newTestRun(numbered(inputs)...)
		x.limits.Rate, x.limits.InFlight = 200, 64
		x.options.Retry = client.DefaultRetryPolicy()
		random := rand.New(rand.NewPCG(3, 0))
		var mu sync.Mutex
		var firsts, retries, retriesBeforeLastFirst int
		x.service.answer = func(ctx context.Context, _ string, attempt int) error {
			mu.Lock()
			if attempt > 1 {
				retries++
			} else if firsts++; firsts == inputs {
				retriesBeforeLastFirst = retries
			}
			fails := random.Float64() < 0.45
			mu.Unlock()
			if err := wait(ctx, 20*time.Millisecond); err != nil || !fails {
				return err
			}
			return &client.Error{Class: client.Transient, Status: http.StatusInternalServerError}
		}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := x.counters.Snapshot(); c.OK+c.Failed != inputs {
			t.Errorf("got %+v", c)
		}
		if most := inputs/2 + 8; retriesBeforeLastFirst > most || retries <= most {
			t.Errorf("%d of %d retries preceded the last first attempt, at most %d may", retriesBeforeLastFirst, retries, most)
		}
	})
}

// A run makes exactly as many requests as it may, if it needs more, and as many as it needs otherwise.
func TestMaxRequestsIsNeverOverstepped(t *testing.T) {
	const needed = 1000
	for name, tt := range map[string]struct {
		most   int64
		faults map[clienttest.Fault]float64
		made   int
	}{
		"a third, and failures": {321, everyFault, 321},
		"one request too few":   {needed - 1, nil, needed - 1},
		"just enough":           {needed, nil, needed},
		"one more than needed":  {needed + 1, nil, needed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newWholeRun(clienttest.Options{Faults: tt.faults, Seed: 5, Latency: 30 * time.Millisecond}, needed)
				n.limits.Rate, n.limits.MaxRequests = 1000, tt.most
				err := n.run(t)
				stop, stopped := errors.AsType[*StopError](err)
				switch {
				case tt.most >= needed && err != nil:
					t.Errorf("the run is not complete: %v", err)
				case tt.most < needed && (!stopped || stop.Cause != account.Budget || !strings.Contains(err.Error(), fmt.Sprintf("limit of %d requests", tt.most))):
					t.Errorf("got %v", err)
				}
				if made := len(n.server.Audit().Arrivals); made != tt.made {
					t.Errorf("%d requests, want %d", made, tt.made)
				}
			})
		})
	}
}

// TestEnoughRequestsAreEnough runs over many records with few requests, as many as the bound allows: such a run is
// complete, although records are still looked up when the last request has been sent.
func TestEnoughRequestsAreEnough(t *testing.T) {
	const distinct = 3
	for name, bound := range map[string]limits.Options{
		"max requests": {MaxRequests: distinct},
		"reserve":      {KeepReserve: true, Reserve: 7, CanAsk: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newWholeRun(clienttest.Options{Quota: distinct + 7, Latency: 30 * time.Millisecond}, 0)
				for i := range 300 {
					n.inputs = append(n.inputs, fmt.Sprint("title ", i%distinct))
				}
				n.limits, n.pause = bound, time.Millisecond
				if err := n.run(t); err != nil {
					t.Error(err)
				}
				if made := len(n.server.Audit().Arrivals); made != distinct || n.counters.Snapshot().OK != 300 {
					t.Errorf("%d requests, %d records have an answer", made, n.counters.Snapshot().OK)
				}
			})
		})
	}
}

func TestReserveIsNeverTouched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWholeRun(clienttest.Options{Quota: 500, QuotaStatus: 402, Faults: everyFault, Missing: 0.1, Seed: 6, Latency: 30 * time.Millisecond}, 1000)
		n.limits.Rate = 1000
		n.limits.KeepReserve, n.limits.Reserve = true, 200
		stop, ok := errors.AsType[*StopError](n.run(t))
		if !ok || stop.Cause != account.QuotaExhausted || !strings.Contains(stop.Error(), "reserve of 200 requests") {
			t.Errorf("got %v", stop)
		}
		// What is refused or fails costs nothing here, so that exactly 200 can be left.
		if audit := n.server.Audit(); audit.Answers != 300 || audit.Late != 0 {
			t.Errorf("%d answers and %d requests after the end", audit.Answers, audit.Late)
		}
	})
}

func TestDeadlineStopsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(10_000)...)
		x.service.answer = func(ctx context.Context, _ string, _ int) error { return wait(ctx, time.Second) }
		start := time.Now()
		x.options.FinishBy = start.Add(10 * time.Minute)
		stop, ok := errors.AsType[*StopError](x.run(t.Context()))
		if took := time.Since(start); !ok || stop.Cause != account.Deadline || took > 10*time.Minute || took < 9*time.Minute {
			t.Errorf("got %v after %v", stop, took)
		}
	})
}

// A service that dies again and again, and is back within seconds, costs no record an attempt: neither requests in flight
// at a death count, nor attempts without a connection.
func TestDeathsOneAfterAnother(t *testing.T) {
	for _, tt := range []struct {
		name               string
		lasts, least, vary time.Duration // how long the service is dead, and its latency
		inputs             int
		share              float64 // of the rate that is used at least while the service is there
	}{
		{"long deaths", 1500 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, 4000, 0.7},
		{"short deaths that meet most requests", 100 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 1500, 0.1},
	} {
		t.Run(tt.name, func(t *testing.T) { testDeaths(t, tt.lasts, tt.least, tt.vary, tt.inputs, tt.share) })
	}
}

func testDeaths(t *testing.T, lasts, least, vary time.Duration, inputs int, share float64) {
	synctest.Test(t, func(t *testing.T) {
		const every = 4 * time.Second
		n := newWholeRun(clienttest.Options{Latency: least, Jitter: vary}, inputs)
		n.limits.Rate, n.limits.CanAsk = 50, false
		start := time.Now()
		dial, close := n.server.Pipe()
		defer close()
		var mu sync.Mutex
		var open []net.Conn
		dying := func() (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			if time.Since(start)%every < lasts {
				return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
			}
			conn, err := dial(t.Context(), "", "")
			open = append(open, conn)
			return conn, err
		}
		deaths := time.NewTicker(every)
		defer deaths.Stop()
		go func() {
			for {
				select {
				case <-deaths.C:
				case <-t.Context().Done():
					return
				}
				mu.Lock()
				for _, conn := range open {
					_ = conn.Close()
				}
				open = nil
				mu.Unlock()
			}
		}()
		if err := n.runAt(t, "http://service", func(context.Context, string, string) (net.Conn, error) { return dying() }); err != nil {
			t.Fatal(err)
		}
		n.checkRows(t)
		there := time.Since(start).Seconds() * (1 - float64(lasts)/float64(every))
		if used := float64(inputs) / n.limits.Rate / there; used < share {
			t.Errorf("while the service is there, %.2f of the rate is used", used)
		}
	})
}
