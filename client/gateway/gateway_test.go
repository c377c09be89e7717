package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/internal/wire"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/money"
)

const upstreamKey = "key-of-the-upstream-0123456789"

// rig is a gateway in synthetic time, with a faulty upstream over pipes.
type rig struct {
	upstream *clienttest.Server
	dir      string  // of the store
	options  Options // without the parts
	keys     string  // a file of keys
	log      *slog.Logger

	wrap  func(client.Attempter) client.Attempter // of the upstream; may be nil
	fails bool                                    // whether the gateway ends with an error

	*Gateway
	store  *answers.Store
	source string
}

func newRig(upstream clienttest.Options, keys string) *rig {
	upstream.Key = upstreamKey
	return &rig{
		upstream: clienttest.New(upstream), keys: keys, log: slog.New(slog.DiscardHandler),
		options: Options{Limits: limits.Options{InFlight: 256}, Retry: client.DefaultRetryPolicy()},
	}
}

// run starts the gateway, calls test and stops the gateway.
func (r *rig) run(t testing.TB, test func()) {
	t.Helper()
	r.dir = cmp.Or(r.dir, t.TempDir())
	dial, closeUpstream := r.upstream.Pipe()
	defer closeUpstream()
	c, err := client.New(client.Options{BaseURL: "http://upstream", APIKey: upstreamKey, Dial: dial, Connections: 256})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.source = c.Source()
	if r.store, err = answers.Open(answers.Options{Path: filepath.Join(r.dir, "answers.db"), Source: r.source}); err != nil {
		t.Fatal(err)
	}
	o := r.options
	o.Upstream, o.Usage, o.Store, o.Logger = c, c.Usage, r.store, r.log
	if r.wrap != nil {
		o.Upstream = r.wrap(o.Upstream)
	}
	if o.Grants, err = embedded.LoadKeys(strings.NewReader(r.keys), money.Price{}); err != nil {
		t.Fatal(err)
	}
	if r.Gateway, err = New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	test()
	stop()
	if err := <-ended; (err != nil) != r.fails {
		t.Errorf("the gateway ended: %v", err)
	}
	if err := r.store.Close(); err != nil {
		t.Error(err)
	}
}

// response is what a colleague gets.
type response struct {
	status            int
	cache, age, retry string
	message           string // of an error
	value             string // of the first category
	remaining, plan   string
}

// ask sends a request for a product, or with "/" at the start for a path.
func (r *rig) ask(key, title string, cacheControl ...string) response {
	target := title
	if !strings.HasPrefix(title, "/") {
		target = embedded.ProductPath + "?query=" + url.QueryEscape(title)
	}
	req := httptest.NewRequest(http.MethodGet, target, nil)
	req.Header.Set("x-api-key", key)
	for _, value := range cacheControl {
		req.Header.Add("Cache-Control", value)
	}
	rec := httptest.NewRecorder()
	r.service.ServeHTTP(rec, req)
	var body struct {
		Error struct{ Message string }
		List  []struct{ Value string } `json:"product_taxonomy"`
		Left  string                   `json:"remaining"`
		Plan  string
	}
	_ = json.Unmarshal(rec.Body.Bytes(), &body)
	got := response{status: rec.Code, cache: rec.Header().Get("X-Cache"), age: rec.Header().Get("Age"), retry: rec.Header().Get("Retry-After"), message: body.Error.Message, remaining: body.Left, plan: body.Plan}
	if len(body.List) > 0 {
		got.value = body.List[0].Value
	}
	return got
}

// persist asks as a client does that repeats refused and failed requests after their Retry-After, or a second.
func (r *rig) persist(key, title string) response {
	for {
		got := r.ask(key, title)
		if got.status < 429 {
			return got
		}
		time.Sleep(time.Second)
	}
}

func (r *rig) left(key string) string { return r.ask(key, "/api/usage").remaining }

// want compares the fields of a response that are set in want.
func (got response) check(t *testing.T, want response) {
	t.Helper()
	if got.status != want.status || got.cache != want.cache || want.age != "" && got.age != want.age ||
		want.retry != "" && got.retry != want.retry || want.value != "" && got.value != want.value || !strings.Contains(got.message, want.message) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestHitsAndMisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=100\nbob quota=100")
		r.options.MaxAge = 24 * time.Hour
		r.run(t, func() {
			sofa := clienttest.Value("red sofa")
			for _, step := range []struct {
				name, key, title string
				cacheControl     []string
				after            time.Duration
				want             response
			}{
				{"the first request", "alice", "red sofa", nil, 0, response{status: 200, cache: "miss", value: sofa}},
				{"another key", "bob", "red sofa", nil, 2 * time.Second, response{status: 200, cache: "hit", age: "2", value: sofa}},
				{"another spelling", "bob", "  red   sofa ", nil, 0, response{status: 200, cache: "hit", value: sofa}},
				{"young enough", "bob", "red sofa", []string{"max-age=60"}, 0, response{status: 200, cache: "hit"}},
				{"a directive that is none", "bob", "red sofa", []string{"max-age=x, private"}, 0, response{status: 200, cache: "hit"}},
				{"too old for the request", "bob", "red sofa", []string{"no-transform", "Max-Age=1"}, 0, response{status: 200, cache: "miss", value: sofa}},
				{"asked again", "alice", "red sofa", nil, time.Second, response{status: 200, cache: "hit", age: "1"}},
				{"no cache", "alice", "red sofa", []string{"no-cache"}, time.Second, response{status: 200, cache: "miss"}},
				{"too old for the gateway", "alice", "red sofa", []string{"max-age=1000000000"}, 25 * time.Hour, response{status: 200, cache: "miss"}},
				{"a wrong key", "carol", "red sofa", nil, 0, response{status: 401}},
				{"an empty title", "alice", " ", nil, 0, response{status: 400, message: "empty"}},
				{"an unknown classification", "alice", embedded.ProductPath + "?query=sofa&classification=naics", nil, 0, response{status: 404, message: "no classification"}},
				{"a website without a classification", "alice", embedded.WebsitePath + "?url=https://x.example", nil, 0, response{status: 400, message: "missing"}},
			} {
				time.Sleep(step.after)
				t.Log(step.name)
				r.ask(step.key, step.title, step.cacheControl...).check(t, step.want)
			}
			if a, b := r.left("alice"), r.left("bob"); a != "97" || b != "99" {
				t.Errorf("left: alice %s, bob %s; want 97 and 99", a, b)
			}
		})
	})
}

func TestEqualRequestsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{Latency: time.Second}, "alice quota=10\nbob quota=10")
		r.run(t, func() {
			var joined atomic.Int64
			var clients sync.WaitGroup
			for i := range 100 {
				clients.Go(func() {
					got := r.ask([]string{"alice", "bob"}[i%2], "red sofa")
					if got.status != 200 {
						t.Errorf("got %+v", got)
					}
					if got.cache == "join" {
						joined.Add(1)
					}
				})
			}
			clients.Wait()
			audit := r.upstream.Audit()
			if audit.Answers != 1 || joined.Load() != 99 {
				t.Errorf("%d answers were paid, %d requests joined; want 1 and 99", audit.Answers, joined.Load())
			}
			if sum := r.left("alice") + r.left("bob"); sum != "910" && sum != "109" {
				t.Errorf("left: alice %s, bob %s; want one charge", r.left("alice"), r.left("bob"))
			}
		})
	})
}

// A request that another process asks waits for that process, also after the client that came first has gone.
func TestAnotherProcessAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=10\nbob quota=10")
		r.run(t, func() {
			other, err := answers.Open(answers.Options{Path: r.store.Path(), Source: r.source})
			if err != nil {
				t.Fatal(err)
			}
			request := client.Request{Kind: client.Product, Input: "red sofa", Classification: client.ProductTaxonomy}
			if err := other.Claim([]answers.Query{{Request: request}}); err != nil {
				t.Fatal(err)
			}
			gone, leave := context.WithCancel(t.Context())
			req := httptest.NewRequestWithContext(gone, http.MethodGet, embedded.ProductPath+"?query=red+sofa", nil)
			req.Header.Set("x-api-key", "alice")
			go r.service.ServeHTTP(httptest.NewRecorder(), req)
			time.Sleep(time.Second)
			go func() {
				time.Sleep(time.Second)
				leave()
				time.Sleep(time.Second)
				if err := other.Close(); err != nil { // without an answer
					t.Error(err)
				}
			}()
			r.ask("bob", "red sofa").check(t, response{status: 200, cache: "join", value: clienttest.Value("red sofa")})
		})
	})
}

// lapsing is an upstream whose first attempt fails. Meanwhile the gateway loses its claims, as if it had been suspended.
type lapsing struct {
	next  client.Attempter
	lapse func(client.Request)
	asked int
}

func (l *lapsing) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	if l.asked++; l.asked == 1 {
		l.lapse(r)
		return client.Answer{}, &client.Error{Class: client.Transient, Status: http.StatusInternalServerError}
	}
	return l.next.Attempt(ctx, r)
}

// A request whose claim has lapsed is asked only if no other process has asked or is asking.
func TestLapse(t *testing.T) {
	for name, tt := range map[string]struct {
		claims  bool             // the other process
		outcome *answers.Outcome // of the other process; nil for none
		want    response
		asked   int
	}{
		"nobody asks":          {want: response{status: 200, cache: "miss", value: clienttest.Value("red sofa")}, asked: 2},
		"another asks":         {claims: true, want: response{status: 503, cache: "miss", message: "not ready"}, asked: 1},
		"another answered":     {claims: true, outcome: &answers.Outcome{Answer: client.Answer{Body: []byte(`{"product_taxonomy":[{"value":"of the other","confidence":0.5}]}`)}}, want: response{status: 200, cache: "miss", value: "of the other"}, asked: 1},
		"another was rejected": {claims: true, outcome: &answers.Outcome{Rejection: &client.Error{Class: client.Rejected, Status: 404, Detail: "no such product"}}, want: response{status: 404, cache: "miss", message: "no such product"}, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(clienttest.Options{}, "alice quota=10")
				upstream := &lapsing{}
				r.wrap = func(next client.Attempter) client.Attempter { upstream.next = next; return upstream }
				r.run(t, func() {
					must := func(err error) {
						if err != nil {
							t.Error(err)
						}
					}
					other, err := answers.Open(answers.Options{Path: r.store.Path(), Source: r.source})
					must(err)
					defer other.Close()
					upstream.lapse = func(request client.Request) {
						db, err := sqlite3.Open("file:" + r.store.Path() + "?vfs=bulkcat")
						must(err)
						must(db.Exec("DELETE FROM claims; DELETE FROM owners"))
						must(db.Close())
						if tt.claims {
							must(other.Claim([]answers.Query{{Request: request}}))
						}
						if tt.outcome != nil {
							tt.outcome.Answer.AnsweredAt = time.Now().Add(time.Second)
							b := other.NewBatch()
							b.Add(request, *tt.outcome)
							must(b.Commit())
						}
						must(r.store.Claim([]answers.Query{{Request: client.Request{Kind: client.Product, Input: "another", Classification: client.ProductTaxonomy}}}))
					}
					r.ask("alice", "red sofa").check(t, tt.want)
					if upstream.asked != tt.asked {
						t.Errorf("asked %d times, want %d", upstream.asked, tt.asked)
					}
					if left, want := r.left("alice"), map[bool]string{true: "9", false: "10"}[tt.asked == 2]; left != want {
						t.Errorf("%s left, want %s", left, want)
					}
				})
			})
		})
	}
}

func TestRejections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{Missing: 0.5}, "alice quota=100")
		missing, sound := "", ""
		for i := 0; missing == "" || sound == ""; i++ {
			if title := fmt.Sprint("title ", i); r.upstream.Missing(title) {
				missing = title
			} else {
				sound = title
			}
		}
		r.run(t, func() {
			refused := response{status: 404, cache: "miss", message: "no such site"}
			r.ask("alice", missing).check(t, refused)
			r.ask("alice", missing).check(t, refused) // not confirmed: perhaps everything is rejected
			r.ask("alice", sound).check(t, response{status: 200, cache: "miss"})
			refused.cache = "hit"
			r.ask("alice", missing).check(t, refused)
			if left := r.left("alice"); left != "99" {
				t.Errorf("%s left; want 99: a rejection is not charged", left)
			}
		})
		r.run(t, func() { r.ask("alice", missing).check(t, response{status: 404, cache: "hit", message: "no such site"}) })
	})
}

func TestLimitsOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=2\nbob rate=10/m burst=1")
		r.run(t, func() {
			r.ask("alice", "a").check(t, response{status: 200, cache: "miss"})
			r.ask("alice", "b").check(t, response{status: 200, cache: "miss"})
			r.ask("alice", "c").check(t, response{status: 402, message: "quota of this API key"})
			r.ask("alice", "a").check(t, response{status: 200, cache: "hit"})
			r.ask("bob", "d").check(t, response{status: 200, cache: "miss"})
			r.ask("bob", "e").check(t, response{status: 429, retry: "6"})
			for range 20 {
				r.ask("bob", "a").check(t, response{status: 200, cache: "hit"}) // hits cost nothing and are not limited
			}
			time.Sleep(6 * time.Second)
			r.ask("bob", "e").check(t, response{status: 200, cache: "miss"})
			if left := r.left("alice"); left != "0" {
				t.Errorf("%s left, want 0", left)
			}
		})
	})
}

// TestFairShares has keys with many and with few requests at once compete for a minute.
func TestFairShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{Latency: 50 * time.Millisecond, Faults: map[clienttest.Fault]float64{clienttest.Error500: 0.01}}, "many\nfew\ndouble priority=2\nidle")
		r.options.Limits.Rate = 100
		r.run(t, func() {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			var clients sync.WaitGroup
			answered := map[string]*atomic.Int64{}
			for key, parallel := range map[string]int{"many": 400, "few": 60, "double": 150} {
				answered[key] = new(atomic.Int64)
				for i := range parallel {
					clients.Go(func() {
						for n := 0; ctx.Err() == nil; n++ {
							switch got := r.ask(key, fmt.Sprint(key, i, "-", n)); got.status {
							case 200:
								if ctx.Err() == nil { // the queues are served to their end
									answered[key].Add(1)
								}
							case 429:
								time.Sleep(time.Second)
							default:
								t.Errorf("got %+v", got)
							}
						}
					})
				}
			}
			time.Sleep(30 * time.Second)
			before := time.Now()
			r.persist("idle", "once")
			if took := time.Since(before); took > time.Second {
				t.Errorf("a key that was idle waits %v for its only request", took)
			}
			clients.Wait()
			total := 0.0
			for _, n := range answered {
				total += float64(n.Load())
			}
			if total < 0.9*100*60 {
				t.Errorf("%.0f answers in a minute at 100 a second", total)
			}
			for key, share := range map[string]float64{"many": 0.25, "few": 0.25, "double": 0.5} {
				if got := float64(answered[key].Load()) / total; got < 0.93*share || got > 1.07*share {
					t.Errorf("%s has a share of %.3f, want %.2f", key, got, share)
				}
			}
		})
	})
}

func TestAThousandKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 4
		var keys strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&keys, "key-%d quota=%d\n", i, each)
		}
		r := newRig(clienttest.Options{Latency: 20 * time.Millisecond}, keys.String())
		r.options.Limits.Rate = 300
		r.run(t, func() {
			var clients sync.WaitGroup
			took := make([]time.Duration, 1000)
			for i := range took {
				clients.Go(func() {
					for n := range each {
						r.persist(fmt.Sprint("key-", i), fmt.Sprint("title ", i, "-", n))
					}
					took[i] = time.Since(took0)
				})
			}
			clients.Wait()
			fastest, slowest := slices.Min(took), slices.Max(took)
			if fastest < slowest*7/10 || slowest > 16*time.Second {
				t.Errorf("the fastest key took %v, the slowest %v", fastest, slowest)
			}
			if answers := r.upstream.Audit().Answers; answers != 1000*each {
				t.Errorf("%d answers were paid", answers)
			}
		})
		r.run(t, func() {
			for i := range 1000 {
				if left := r.left(fmt.Sprint("key-", i)); left != "0" {
					t.Errorf("after a restart %s answers are left to key %d", left, i)
				}
			}
		})
	})
}

// took0 is the time at which a bubble of synctest begins.
var took0 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		r := newRig(clienttest.Options{Latency: 20 * time.Millisecond, Down: down.Load}, "alice\nbob")
		r.run(t, func() {
			r.ask("alice", "stored").check(t, response{status: 200, cache: "miss"})
			down.Store(true)
			var clients sync.WaitGroup
			for i := range 40 {
				clients.Go(func() { r.persist("alice", fmt.Sprint("waiting ", i)) })
			}
			time.Sleep(3 * time.Minute)
			r.ask("bob", "new").check(t, response{status: 502, message: "upstream service refuses requests"})
			r.ask("bob", "stored").check(t, response{status: 200, cache: "hit"})
			attempts := len(r.upstream.Audit().Arrivals)
			time.Sleep(10 * time.Minute)
			if n := len(r.upstream.Audit().Arrivals) - attempts; n > 20 {
				t.Errorf("%d attempts in ten minutes of outage", n)
			}
			down.Store(false)
			clients.Wait()
			r.persist("bob", "new")
			for input, record := range r.upstream.Audit().Inputs {
				if record.Answers != 1 {
					t.Errorf("%q was answered %d times", input, record.Answers)
				}
			}
		})
	})
}

// TestRetriesDoNotMultiply has two clients repeat a request that always fails.
func TestRetriesDoNotMultiply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := clienttest.New(clienttest.Options{Faults: map[clienttest.Fault]float64{clienttest.Error500: 1}})
		r := newRig(clienttest.Options{}, "alice quota=10\nbob quota=100")
		r.run(t, func() {
			r.Gateway.options.Upstream = failsFor{"bad", failing, r.Gateway.options.Upstream}
			ctx, stop := context.WithCancel(t.Context())
			var others sync.WaitGroup
			others.Go(func() { // the upstream answers other requests
				for n := 0; ctx.Err() == nil; n++ {
					r.ask("bob", fmt.Sprint("good ", n%10), "no-cache")
					time.Sleep(100 * time.Millisecond)
				}
			})
			var clients sync.WaitGroup
			for _, key := range []string{"alice", "bob"} {
				clients.Go(func() {
					for range 8 {
						if got := r.ask(key, "bad"); got.status != 502 && got.status != 503 {
							t.Errorf("got %+v", got)
						}
						time.Sleep(2 * time.Second)
					}
				})
			}
			clients.Wait()
			stop()
			others.Wait()
			if n := failing.Audit().Inputs["bad"].Attempts; n != 8 {
				t.Errorf("%d attempts, want 8", n)
			}
			if left := r.left("alice"); left != "10" {
				t.Errorf("alice has %s left, want 10: a failure is not charged", left)
			}
		})
	})
}

// failsFor asks a failing upstream for one input, and another for the rest.
type failsFor struct {
	input   string
	failing http.Handler
	next    client.Attempter
}

func (f failsFor) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	if r.Input != f.input {
		return f.next.Attempt(ctx, r)
	}
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/?query="+r.Input, nil)
	f.failing.ServeHTTP(rec, req)
	return client.Answer{}, &client.Error{Class: client.Transient, Status: rec.Code}
}

func TestQuotaOfTheUpstream(t *testing.T) {
	for name, reserve := range map[string]int64{"used up": -1, "up to the reserve": 5} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(clienttest.Options{Quota: 10, QuotaStatus: 402, QuotaBody: `{"error":"no credits"}`}, "alice")
				r.options.Limits.KeepReserve, r.options.Limits.Reserve = reserve >= 0, reserve
				r.run(t, func() {
					answers := 10 - max(reserve, 0)
					for i := range answers {
						r.ask("alice", fmt.Sprint("title ", i)).check(t, response{status: 200, cache: "miss"})
					}
					if got := r.ask("alice", "one more"); got.status != 402 || got.remaining != "0" || !strings.Contains(got.message, "all keys share") {
						t.Errorf("got %+v", got)
					}
					if left := r.left("alice"); left != "0" {
						t.Errorf("%s left, want 0", left)
					}
					r.ask("alice", "title 0").check(t, response{status: 200, cache: "hit"})
					r.upstream.Refill(100)
					time.Sleep(20 * time.Minute)
					if left := r.left("alice"); left != "100" {
						t.Errorf("%s left, want 100: the upstream's quota is the smaller one", left)
					}
					r.ask("alice", "one more").check(t, response{status: 200, cache: "miss"})
					if late := r.upstream.Audit().Late; late > 1 {
						t.Errorf("%d requests beyond the quota", late)
					}
				})
			})
		})
	}
}

// TestKill copies the store at any time, as a kill leaves it: what was acknowledged is stored, and what is stored is
// charged, once.
func TestKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{Latency: 10 * time.Millisecond, Jitter: 20 * time.Millisecond}, "alice quota=100000")
		var before []string
		for round := range 5 {
			var acknowledged []string
			dir := t.TempDir()
			r.run(t, func() {
				var mu sync.Mutex
				var clients sync.WaitGroup
				for i := range 200 {
					clients.Go(func() {
						title := fmt.Sprint("title ", round, "-", i)
						if got := r.persist("alice", title); got.status == 200 {
							mu.Lock()
							acknowledged = append(acknowledged, title)
							mu.Unlock()
						}
					})
				}
				time.Sleep(time.Duration(300+400*round) * time.Millisecond)
				mu.Lock()
				before = append(before, acknowledged...)
				if err := r.store.Copy(t.Context(), filepath.Join(dir, "answers.db")); err != nil {
					t.Error(err)
				}
				mu.Unlock()
				clients.Wait()
			})
			r.dir = dir
			r.run(t, func() {
				stored := 0
				if err := r.store.Scan(func(answers.Stored) error { stored++; return nil }); err != nil {
					t.Error(err)
				}
				if left := r.left("alice"); left != fmt.Sprint(100000-stored) {
					t.Errorf("%d answers are stored, and %s left", stored, left)
				}
				for _, title := range before {
					r.ask("alice", title).check(t, response{status: 200, cache: "hit"})
				}
			})
		}
		if len(before) == 0 {
			t.Error("nothing was acknowledged before a kill")
		}
	})
}

// Only one gateway at a time counts what the keys have used in a store. A gateway that ends leaves the store to the next.
func TestTwoGatewaysOnOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=3")
		r.run(t, func() {
			r.ask("alice", "sofa").check(t, response{status: 200, cache: "miss"})
			store, err := answers.Open(answers.Options{Path: r.store.Path(), Source: "https://other.example.com"})
			if err != nil {
				t.Fatal(err)
			}
			o := r.Gateway.options
			o.Store = store
			_, err = New(t.Context(), o)
			if !errors.Is(err, answers.Locked) {
				t.Errorf("error %v", err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
			r.ask("alice", "lamp").check(t, response{status: 200, cache: "miss"})
		})
		r.run(t, func() {
			if left := r.left("alice"); left != "1" {
				t.Errorf("%s left, want 1", left)
			}
		})
	})
}

// A gateway does not start on a store that does not tell what keys have used.
// A gateway whose store fails asks nothing, and ends with the error of the store.
func TestTheStoreFails(t *testing.T) {
	for name, want := range map[string]int{"stored": 200, "new": 503} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(clienttest.Options{}, "a\n")
			r.fails = true
			r.run(t, func() {
				r.ask("a", "stored")
				if err := os.Remove(filepath.Join(r.dir, "answers.db")); err != nil {
					t.Fatal(err)
				}
				if got := r.ask("a", name); got.status != want {
					t.Errorf("%s: %+v", name, got)
				}
				r.ask("a", "new")
				<-r.stopped
				if got := r.ask("a", "other"); got.status != 503 {
					t.Errorf("later: %+v", got)
				}
			})
			if asked := len(r.upstream.Audit().Arrivals); asked != 1 {
				t.Errorf("%d requests reached the upstream, want 1", asked)
			}
		})
	}
}

func TestDamagedUsage(t *testing.T) {
	store, err := answers.Open(answers.Options{Path: filepath.Join(t.TempDir(), "answers.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.PutNotes(map[string][]byte{"used quota of alice": []byte("5")}); err != nil {
		t.Fatal(err)
	}
	_, err = New(t.Context(), Options{Store: store})
	if damage, ok := errors.AsType[*embedded.LedgerError](err); !ok || damage.Path != store.Path() {
		t.Errorf("error %v", err)
	}
}

func TestTheUpstreamKeyStaysSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		r := newRig(clienttest.Options{
			Quota: 1, QuotaStatus: 404, QuotaBody: `{"error":"no site for ` + upstreamKey + `"}`,
			Answer: func(dst []byte, classification, _ string) []byte { // with an escaped letter
				return fmt.Appendf(dst, `{"for":"\u006b%s",%q:[{"value":"Sofas of %s"}]}`, upstreamKey[1:], classification, upstreamKey)
			},
		}, "alice")
		r.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		r.run(t, func() {
			var seen strings.Builder
			for _, title := range []string{"a", "a", "b", "c", "/api/usage"} {
				fmt.Fprintln(&seen, r.ask("alice", title))
			}
			found, err := r.find(client.Request{Kind: client.Product, Input: "a", Classification: client.ProductTaxonomy}, time.Time{}, false)
			stored := found.Outcome
			if err != nil || len(stored.Answer.Body) == 0 {
				t.Errorf("stored: %+v, %v", stored, err)
			}
			seen.Write(stored.Answer.Body)
			seen.WriteString(r.page(embedded.MetricsPath))
			if !strings.Contains(seen.String(), "no site for [secret]") || !strings.Contains(seen.String(), `bulkcat_gateway_requests_total{cache="miss"} 3`) {
				t.Errorf("got %s", seen.String())
			}
			if strings.Contains(seen.String()+log.String(), upstreamKey[1:]) {
				t.Errorf("the key of the upstream is told:\n%s\n%s", seen.String(), log.String())
			}
		})
	})
}

// Clients know a gateway by a header: the shards of a run then leave the rate and the quota to the gateway.
func TestClientsKnowTheGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=100")
		r.run(t, func() {
			for _, path := range []string{embedded.UsagePath, embedded.ProductPath + "?query=hotel", "/nothing"} {
				req, rec := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
				req.Header.Set("x-api-key", "alice")
				r.service.ServeHTTP(rec, req)
				if rec.Header().Get(wire.GatewayHeader) == "" {
					t.Errorf("%s: %d without the header %s", path, rec.Code, wire.GatewayHeader)
				}
			}
		})
	})
}
