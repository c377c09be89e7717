package gateway

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/limits"
)

// page returns a page of the gateway's server.
func (r *rig) page(path string) string { return r.answer(path).Body.String() }

func (r *rig) answer(path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r.service.Server(embedded.ServerOptions{}).Handler.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec
}

// Refusals, the log, metrics, /healthz and usage tell the same state of the upstream, requests are refused at once, and
// the gateway goes on by itself when the upstream serves again.
func TestStates(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name                string
		state               State
		fault               func(o *clienttest.Options, on *atomic.Bool)
		status, usage       int           // of requests and of usage
		message             string        // of requests
		leastWait, mostWait time.Duration // Retry-After
		back                time.Duration // until requests are answered again, at most
		longest             time.Duration // that a request waits: for the attempt that shows that the upstream still refuses
		most                int           // attempts at the upstream in half an hour
	}{
		{"the upstream fails", Out, func(o *clienttest.Options, on *atomic.Bool) { o.Down, o.DownStatus = on.Load, 500 },
			502, 502, "is out", 2 * time.Second, 2 * time.Second, 3 * time.Minute, 0, 60},
		{"a day without requests", Limited, func(o *clienttest.Options, on *atomic.Bool) {
			o.Closed = func() time.Duration {
				if on.Load() {
					return day
				}
				return 0
			}
		}, 502, 502, "refuses requests for a while", 10 * time.Minute, 15*time.Minute + time.Second, 16 * time.Minute, waitable + time.Second, 50},
		{"the key is revoked", Blocked, func(o *clienttest.Options, on *atomic.Bool) { o.Revoked = on.Load },
			502, 502, "refuses the API key of the gateway", 2 * time.Second, time.Minute, 2 * time.Minute, 0, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var on atomic.Bool
				o := clienttest.Options{Latency: 20 * time.Millisecond}
				tt.fault(&o, &on)
				r := newRig(o, "alice quota=10000")
				log := new(bytes.Buffer)
				r.log = slog.New(slog.NewTextHandler(log, nil))
				r.run(t, func() {
					check := func(state State, refused bool) {
						t.Helper()
						synctest.Wait()
						if metric := fmt.Sprintf(`bulkcat_gateway_upstream_state{state=%q} 1`, state); !strings.Contains(r.page(embedded.MetricsPath), metric) {
							t.Errorf("the metrics lack %s", metric)
						}
						if want := fmt.Sprintf(`{"status":%q}`, state); r.page(embedded.HealthPath) != want {
							t.Errorf("%s: %s, want %s", embedded.HealthPath, r.page(embedded.HealthPath), want)
						}
						if got := r.answer(embedded.ReadyPath).Code; (got == 200) == refused || got != 200 && got != 503 {
							t.Errorf("%s: status %d", embedded.ReadyPath, got)
						}
						if got := r.ask("alice", "/api/usage"); refused && got.status != tt.usage || !refused && got.status != 200 {
							t.Errorf("usage: %+v", got)
						}
					}
					r.ask("alice", "stored").check(t, response{status: 200, cache: "miss"})
					check(Up, false)
					on.Store(true)
					var clients sync.WaitGroup
					for i := range 20 {
						clients.Go(func() { r.ask("alice", fmt.Sprint("first ", i)) })
					}
					clients.Wait()
					check(tt.state, true)
					attempts := len(r.upstream.Audit().Arrivals)
					for i := range 1800 {
						before := time.Now()
						got := r.ask("alice", fmt.Sprint("title ", i%50))
						took := time.Since(before)
						if got.status != tt.status || !strings.Contains(got.message, tt.message) || took > tt.longest {
							t.Errorf("request %d: %+v after %v", i, got, took)
							break
						}
						wait, err := strconv.Atoi(got.retry)
						if w := time.Duration(wait) * time.Second; i == 0 && (err != nil || w < tt.leastWait || w > tt.mostWait) {
							t.Errorf("Retry-After: %s", got.retry)
						}
						time.Sleep(time.Second)
					}
					check(tt.state, true)
					r.ask("alice", "stored").check(t, response{status: 200, cache: "hit"})
					if n := len(r.upstream.Audit().Arrivals) - attempts; n > tt.most {
						t.Errorf("%d attempts in half an hour", n)
					}
					if lines := strings.Count(log.String(), "new requests are refused"); lines != 1 || strings.Contains(log.String(), upstreamKey) {
						t.Errorf("%d lines in the log:\n%s", lines, log)
					}
					on.Store(false)
					before := time.Now()
					for i := range 50 {
						r.persist("alice", fmt.Sprint("title ", i))
					}
					if took := time.Since(before); took > tt.back {
						t.Errorf("requests are answered again after %v", took)
					}
					check(Up, false)
					if !strings.Contains(log.String(), "serves again") {
						t.Error("the log does not say that the upstream serves again")
					}
					if twice := r.upstream.Audit().Twice(); twice > 0 {
						t.Errorf("%d answers were paid twice", twice)
					}
				})
			})
		})
	}
}

// A gateway with a reserve of nothing does not know the quota while the upstream is down: the state is that of an outage,
// for any time.
func TestUnknownQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		down.Store(true)
		r := newRig(clienttest.Options{Down: down.Load, DownStatus: 500, Quota: 1000}, "alice")
		r.options.Limits.KeepReserve = true
		r.run(t, func() {
			r.ask("alice", "early") // it waits until the gateway has seen that the quota is unknown
			for range 20 {
				time.Sleep(time.Minute)
				r.ask("alice", "title").check(t, response{status: 502, message: "is out"})
			}
			down.Store(false)
			before := time.Now()
			r.persist("alice", "title")
			if took := time.Since(before); took > 3*time.Minute {
				t.Errorf("the request is answered %v after the outage", took)
			}
		})
	})
}

// A call ends with the refusal of the upstream at whatever step it meets the refusal, and holds up no equal request.
func TestACallMeetsARefusal(t *testing.T) {
	request := client.Request{Kind: client.Product, Input: "red sofa", Classification: client.ProductTaxonomy}
	for _, tt := range []struct {
		name string
		step func(g *Gateway, c *call, spend func())
	}{
		{"before it is in the queue", func(g *Gateway, c *call, spend func()) { spend(); _ = g.enqueue(c) }},
		{"in the queue", func(g *Gateway, c *call, spend func()) { _ = g.enqueue(c); spend() }},
		{"in flight", func(g *Gateway, c *call, spend func()) {
			_ = g.enqueue(c)
			_, _ = front{g}.Next(limits.SendFirst)
			c.Begin(time.Now())
			spend()
			c.Fail(time.Now(), &client.Error{Class: client.Transient, Status: 500}, g.options.Retry)
			g.park(c)
		}},
		{"while it waits for a retry", func(g *Gateway, c *call, spend func()) {
			c.Begin(time.Now())
			c.Fail(time.Now(), &client.Error{Class: client.Transient, Status: 500}, g.options.Retry)
			g.park(c)
			spend()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &Gateway{ // that does not dispatch
				options: Options{Retry: client.DefaultRetryPolicy()}, standing: new(client.Standing), limits: limits.New(limits.Options{WaitForQuota: true}, time.Now()),
				changed: make(chan struct{}, 1), seen: condition{state: Up},
				calls: map[client.Request]*call{}, failed: failures{},
			}
			g.dispatcher = ask.NewDispatcher(front{g}, g.limits)
			key := keyOf(g, embedded.Grant{Key: "alice", Quota: 1})
			c, _, err := g.join(key, request)
			if err != nil {
				t.Fatal(err)
			}
			tt.step(g, c, func() {
				g.limits.Exhausted(time.Now(), 0)
				g.dispatcher.Report(limits.Effect{})
			})
			select {
			case <-c.done:
			default:
				t.Fatal("the call has not ended")
			}
			if len(g.calls) > 0 || client.ClassOf(c.err) != client.Quota {
				t.Errorf("%d calls, %v", len(g.calls), c.err)
			}
			if !key.Reserve() {
				t.Error("the answer is still reserved")
			}
		})
	}
}

// catcher is a backend that catches the key of a request.
type catcher struct {
	*Gateway
	key *embedded.Key
}

func (c *catcher) Answer(_ http.Header, _ *http.Request, key *embedded.Key, _ client.Request) ([]byte, func(), error) {
	c.key = key
	return nil, nil, outage()
}

// keyOf returns the key of a grant.
func keyOf(g *Gateway, grant embedded.Grant) *embedded.Key {
	c := &catcher{Gateway: g}
	req := httptest.NewRequest(http.MethodGet, embedded.ProductPath+"?query=x", nil)
	req.Header.Set("x-api-key", grant.Key)
	embedded.New(embedded.Options{Grants: []embedded.Grant{grant}, Backend: c}).ServeHTTP(httptest.NewRecorder(), req)
	return c.key
}

// A key that is at its rate takes nothing from another key.
func TestAKeyAtItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{Latency: 10 * time.Millisecond}, "alice rate=250/s burst=1\nbob")
		r.options.Limits.Rate = 10_000
		r.run(t, func() {
			var answered [2]int64
			for i, clientsOfAlice := range []int{0, 50} {
				ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
				var clients sync.WaitGroup
				var refused, ofBob atomic.Int64
				loop := func(key string, client int, answered, refused *atomic.Int64) {
					for n := 0; ctx.Err() == nil; n++ {
						switch r.ask(key, fmt.Sprint(key, i, "-", client, "-", n)).status {
						case 200:
							answered.Add(1)
						case 429:
							refused.Add(1)
							time.Sleep(5 * time.Millisecond)
						}
					}
				}
				for c := range clientsOfAlice {
					clients.Go(func() { loop("alice", c, new(atomic.Int64), &refused) })
				}
				for c := range 20 {
					clients.Go(func() { loop("bob", c, &ofBob, new(atomic.Int64)) })
				}
				clients.Wait()
				stop()
				answered[i] = ofBob.Load()
				if clientsOfAlice > 0 && refused.Load() == 0 {
					t.Error("the key is above its rate, but not refused")
				}
			}
			if alone, beside := answered[0], answered[1]; beside < alone*95/100 {
				t.Errorf("%d answers beside the other key, %d alone", beside, alone)
			}
		})
	})
}
