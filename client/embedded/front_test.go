package embedded

import (
	"bytes"
	"encoding/json"
	"io"
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

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// alice is a key with all attributes.
var alice = Grant{Key: "key-of-alice", Name: "alice", Plan: "team", Quota: 1000, Rate: Rate{10, time.Second}, Burst: 3}

// offered returns the handler of a server with alice's key.
func offered(o Options, server ServerOptions) *front {
	o.Grants, o.Logger = append(o.Grants, alice), quiet
	return newFront(lent(New(o)), server)
}

// lent returns s with the engines of shared.
func lent(s *Service) *Service {
	for path, op := range s.operations {
		op.classifications = shared.operations[path].classifications
	}
	return s
}

// askAlice sends a request with alice's key, after applying the changes.
func askAlice(h http.Handler, method, target string, changes ...func(*http.Request)) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, target, nil)
	req.Header.Set("x-api-key", alice.Key)
	for _, change := range changes {
		change(req)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

func withHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

var sofa = target(ProductPath, "query", "sofa")

func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := offered(Options{}, ServerOptions{})
		want := func(rec *httptest.ResponseRecorder, status int, limit, wait string) {
			t.Helper()
			h := rec.Header()
			if rec.Code != status || h.Get("RateLimit") != limit || h.Get("Retry-After") != wait {
				t.Errorf("status %d, RateLimit %s, Retry-After %s; want %d, %s, %s: %s",
					rec.Code, h.Get("RateLimit"), h.Get("Retry-After"), status, limit, wait, rec.Body)
			}
			if got := h.Get("RateLimit-Policy"); limit != "" && got != `"key";q=10;w=1` {
				t.Errorf("policy %s", got)
			}
		}
		for left := 2; left >= 0; left-- {
			want(askAlice(f, "GET", sofa), 200, `"key";r=`+strconv.Itoa(left), "")
		}
		want(askAlice(f, "GET", sofa), 429, `"key";r=0;t=1`, "1")
		want(askAlice(f, "GET", UsagePath), 200, "", "") // is not counted
		time.Sleep(100 * time.Millisecond)
		want(askAlice(f, "GET", ProductPath), 400, `"key";r=0`, "") // is counted, though it costs nothing
		want(askAlice(f, "GET", sofa), 429, `"key";r=0;t=1`, "1")
		if rec := askAlice(f, "GET", UsagePath); !strings.Contains(rec.Body.String(), `"997"`) {
			t.Errorf("usage %s, want 997 left", rec.Body)
		}
	})
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	tests := []struct {
		rate Rate
		want string
	}{
		{Rate{100, time.Second}, "1"},
		{Rate{1, time.Second}, "1"},
		{Rate{40, time.Minute}, "2"}, // 1.5 s
		{Rate{1, time.Minute}, "60"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(tt.rate, 1)
			if wait, ok := l.admit(http.Header{}); !ok {
				t.Fatalf("the first is refused for %v", wait)
			}
			if wait, ok := l.admit(http.Header{}); ok || retryAfter(wait) != tt.want {
				t.Errorf("%v: a wait of %v, want %s s", tt.rate, wait, tt.want)
			}
		})
	}
}

// A request that is a little early passes at once, and a client that always is early gets no more than its rate.
func TestRequestsALittleEarlyPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 20 * time.Millisecond
		l := newLimiter(Rate{50, time.Second}, 1)
		start := time.Now()
		for i, early := range []time.Duration{0, 0, earlyBy, earlyBy / 2, 0} {
			time.Sleep(time.Until(start.Add(time.Duration(i)*interval - early)))
			if wait, ok := l.admit(http.Header{}); !ok {
				t.Errorf("request %d is refused for %v", i, wait)
			}
			if late := time.Since(start) - time.Duration(i)*interval + early; late != 0 {
				t.Errorf("request %d waits for %v", i, late)
			}
		}
		time.Sleep(interval - earlyBy - time.Microsecond)
		if _, ok := l.admit(http.Header{}); ok {
			t.Error("a request that is earlier passes")
		}
		passed := 0
		for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(time.Millisecond) {
			if _, ok := l.admit(http.Header{}); ok {
				passed++
			}
		}
		if passed < 499 || passed > 501 {
			t.Errorf("%d requests pass in ten seconds at 50 a second", passed)
		}
	})
}

func TestRequestIDs(t *testing.T) {
	f := offered(Options{}, ServerOptions{})
	tests := []struct {
		name, id string
		kept     bool
	}{
		{"of a client", "run-7/row.42:a=b+c@d_e", true},
		{"as long as allowed", strings.Repeat("a", maxRequestID), true},
		{"none", "", false},
		{"too long", strings.Repeat("a", maxRequestID+1), false},
		{"with a space", "a b", false},
		{"with a quote", `a"b`, false},
		{"of another script", "größe", false},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := askAlice(f, "GET", ProductPath, withHeader("X-Request-ID", tt.id))
			id := rec.Header().Get("X-Request-ID")
			if tt.kept != (id == tt.id) || !isRequestID(id) || seen[id] {
				t.Errorf("id %q for %q", id, tt.id)
			}
			seen[id] = true
			if !strings.Contains(rec.Body.String(), `"request_id":"`+id+`"`) {
				t.Errorf("the error does not name %s: %s", id, rec.Body)
			}
		})
	}
}

func TestAccessLog(t *testing.T) {
	var out bytes.Buffer
	f := offered(Options{}, ServerOptions{AccessLog: slog.New(slog.NewJSONHandler(&out, nil))})
	tests := []struct {
		name   string
		do     func() *httptest.ResponseRecorder
		status int
		path   string
		key    string
	}{
		{"an answer", func() *httptest.ResponseRecorder { return askAlice(f, "GET", sofa) }, 200, ProductPath, "alice"},
		{"usage", func() *httptest.ResponseRecorder { return askAlice(f, "GET", UsagePath) }, 200, UsagePath, "alice"},
		{"a wrong key", func() *httptest.ResponseRecorder {
			return askAlice(f, "GET", sofa, withHeader("x-api-key", "not-"+alice.Key))
		}, 401, ProductPath, ""},
		{"a page", func() *httptest.ResponseRecorder { return askAlice(f, "GET", MetricsPath) }, 200, MetricsPath, ""},
		{"a path without end", func() *httptest.ResponseRecorder {
			return askAlice(f, "GET", "/"+strings.Repeat("a", 100_000))
		}, 404, "/" + strings.Repeat("a", maxLogged-1), ""},
		{"a method without end", func() *httptest.ResponseRecorder {
			return askAlice(f, strings.Repeat("G", 200_000), sofa)
		}, 405, ProductPath, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			rec := tt.do()
			var line struct {
				Time      time.Time
				Level     string
				Method    string
				Path      string
				Status    int
				Bytes     int
				Duration  float64 `json:"duration_ms"`
				Key       string
				RequestID string `json:"request_id"`
				Remote    string
			}
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
			if line.Method != "GET" && line.Method != strings.Repeat("G", maxLogged) || line.Path != tt.path || line.Status != tt.status || rec.Code != tt.status || line.Key != tt.key {
				t.Errorf("status %d, line %s", rec.Code, &out)
			}
			if line.Bytes != rec.Body.Len() || line.Duration < 0 || line.RequestID != rec.Header().Get("X-Request-ID") || line.Remote == "" || line.Time.IsZero() {
				t.Errorf("line %s", &out)
			}
			if strings.Contains(out.String(), alice.Key) || strings.Contains(out.String(), "sofa") {
				t.Errorf("the line tells a secret: %s", &out)
			}
		})
	}
	t.Run("at another level", func(t *testing.T) {
		out.Reset()
		f.log = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))
		if askAlice(f, "GET", sofa); out.Len() > 0 {
			t.Errorf("log %s", &out)
		}
	})
}

// gate is a network that blocks its callers until it is open.
type gate struct{ arrived, open chan struct{} }

func (g gate) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case g.arrived <- struct{}{}:
		<-g.open
	case <-g.open:
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// A key's slow websites hold up neither the requests of other keys nor the pages, and too many are refused.
func TestASlowKeyHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := transportOf(func(req *http.Request) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "robots.txt") {
				return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
			}
			if strings.HasPrefix(req.URL.Host, "slow") {
				time.Sleep(8 * time.Second)
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		})
		for _, tt := range []struct {
			name string
			page page.Options
			host string // of alice's requests; %d is their number
			most int
		}{
			{"places", page.Options{}, "slow%d.example", 10},
			{"one host", page.Options{}, "slow.example", 1000},
			{"the rate of pages", page.Options{Rate: 10}, "fast%d.example", 1000},
		} {
			tt.page.Transport, tt.page.Logger, tt.page.Mode = slow, quiet, page.Always
			patient, bob := alice, Grant{Key: "key-of-bob", Name: "bob", Quota: Unlimited}
			patient.Rate = Rate{}
			f := newFront(lent(New(Options{Grants: []Grant{patient, bob}, Logger: quiet, Fetch: page.New(tt.page)})), ServerOptions{MaxInFlight: tt.most})
			website := func(host string) string {
				return target(WebsitePath, "url", "https://"+host, "classification", "naics")
			}
			var held sync.WaitGroup
			var refused atomic.Int64
			for i := range 100 {
				host := strings.ReplaceAll(tt.host, "%d", strconv.Itoa(i))
				held.Go(func() {
					if rec := askAlice(f, "GET", website(host)); rec.Code != http.StatusOK {
						refused.Add(1)
					}
				})
			}
			synctest.Wait()
			start := time.Now()
			host := "other.example"
			most := time.Second
			if tt.host == "slow.example" {
				host, most = tt.host, patience // one request of the host at a time
			}
			if rec := askAlice(f, "GET", website(host), withHeader("x-api-key", bob.Key)); rec.Code != http.StatusOK || time.Since(start) > most {
				t.Errorf("%s: bob gets the status %d after %v", tt.name, rec.Code, time.Since(start))
			}
			for _, path := range []string{HealthPath, ReadyPath, MetricsPath, OpenAPIPath, UsagePath} {
				if rec := askAlice(f, "GET", path); rec.Code != http.StatusOK {
					t.Errorf("%s: %s: status %d while alice's requests wait", tt.name, path, rec.Code)
				}
			}
			if text := metricsOf(f); tt.name == "places" && (!strings.Contains(text, "bulkcat_service_requests_in_flight 18\n") || refused.Load() != 82) {
				t.Errorf("%d of alice's requests are refused; metrics %s", refused.Load(), text)
			}
			held.Wait()
		}
	})
}

type transportOf func(*http.Request) (*http.Response, error)

func (f transportOf) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A request in flight is answered and charged even if its key has been revoked.
func TestSetGrants(t *testing.T) {
	g := gate{make(chan struct{}), make(chan struct{})}
	ledger := openLedger(t, new(memory))
	f := offered(Options{Ledger: ledger, Fetch: page.New(page.Options{Transport: g, Logger: quiet})}, ServerOptions{})
	website := func(host string) string {
		return target(WebsitePath, "url", "https://"+host, "classification", "naics")
	}
	var held sync.WaitGroup
	held.Go(func() {
		if rec := askAlice(f, "GET", website("a.example")); rec.Code != http.StatusOK {
			t.Errorf("the request in flight: status %d", rec.Code)
		}
	})
	<-g.arrived
	f.service.SetGrants([]Grant{{Key: "key-of-bob", Quota: 1}})
	if rec := askAlice(f, "GET", sofa); rec.Code != http.StatusUnauthorized {
		t.Errorf("alice: status %d", rec.Code)
	}
	if rec := askAlice(f, "GET", sofa, withHeader("x-api-key", "key-of-bob")); rec.Code != http.StatusOK {
		t.Errorf("bob: status %d", rec.Code)
	}
	close(g.open)
	held.Wait()
	save(t, f.service)
	if got := ledger.usedBy(ledger.salt.digest(alice.Key)).answers; got != 1 {
		t.Errorf("%d answers of alice are charged, want 1", got)
	}
	if text := metricsOf(f); strings.Contains(text, `"alice"`) || !strings.Contains(text, `bulkcat_service_answers_total{key="key-1"} 1`) {
		t.Errorf("metrics %s", text)
	}
	f.service.SetGrants([]Grant{alice})
	if rec := askAlice(f, "GET", UsagePath); !strings.Contains(rec.Body.String(), `"999"`) {
		t.Errorf("usage of alice, who is back: %s", rec.Body)
	}
	f.service.SetGrants(nil)
	if rec := askAlice(f, "GET", UsagePath, withHeader("x-api-key", "")); rec.Code != http.StatusUnauthorized {
		t.Errorf("without any grant, anyone: status %d", rec.Code)
	}
}

func metricsOf(f *front) string { return askAlice(f, "GET", MetricsPath).Body.String() }

func TestMetrics(t *testing.T) {
	synctest.Test(t, testMetrics) // no time passes: the fourth request is too fast
}

func testMetrics(t *testing.T) {
	f := offered(Options{Grants: []Grant{{Key: "other", Quota: Unlimited}}}, ServerOptions{})
	for range 3 {
		askAlice(f, "GET", sofa)
	}
	askAlice(f, "GET", sofa) // too fast
	askAlice(f, "GET", UsagePath)
	askAlice(f, "GET", UsagePath, withHeader("x-api-key", "unknown"))
	askAlice(f, "PUT", target(WebsitePath))
	askAlice(f, "GET", "/favicon.ico")
	askAlice(f, "GET", sofa, withHeader("x-api-key", "other"))
	text := metricsOf(f)
	for _, want := range []string{
		`bulkcat_service_requests_total{operation="product",status="200"} 4`,
		`bulkcat_service_requests_total{operation="product",status="429"} 1`,
		`bulkcat_service_requests_total{operation="usage",status="200"} 1`,
		`bulkcat_service_requests_total{operation="usage",status="401"} 1`,
		`bulkcat_service_requests_total{operation="website",status="405"} 1`,
		`bulkcat_service_requests_total{operation="other",status="404"} 1`,
		`bulkcat_service_request_duration_seconds_count{operation="product"} 5`,
		`bulkcat_service_requests_in_flight 0`,
		`bulkcat_service_quota_remaining{key="alice"} 997`,
		`bulkcat_service_answers_total{key="alice"} 3`,
		`bulkcat_service_answers_total{key="key-1"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Count(text, "bulkcat_service_quota_remaining{") != 1 {
		t.Error("a key without a quota has something left")
	}
	if strings.Contains(text, alice.Key) || strings.Contains(text, "favicon") {
		t.Error("the metrics have a client's input or a key")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestMetricsSurviveAnyName(t *testing.T) {
	f := newFront(New(Options{Grants: []Grant{{Key: "a", Name: "\xff"}, {Key: "b", Name: "\xfe"}}, Logger: quiet}), ServerOptions{})
	if text := metricsOf(f); !strings.Contains(text, "bulkcat_service_requests_total") {
		t.Errorf("metrics %s", text)
	}
}

func TestAnOperationThatCostsHasNoHead(t *testing.T) {
	f := offered(Options{}, ServerOptions{})
	if rec := askAlice(f, "HEAD", sofa); rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != "GET, POST" || rec.Body.Len() > 0 {
		t.Errorf("status %d, Allow %q, body %s", rec.Code, rec.Header().Get("Allow"), rec.Body)
	}
	if rec := askAlice(f, "GET", UsagePath); !strings.Contains(rec.Body.String(), `"1000"`) {
		t.Errorf("usage %s, want all that alice has", rec.Body)
	}
}

func TestPagesForThoseWhoRunIt(t *testing.T) {
	server := httptest.NewServer(offered(Options{}, ServerOptions{}))
	defer server.Close()
	for _, path := range []string{HealthPath, ReadyPath, MetricsPath, OpenAPIPath, UsagePath} {
		for method, status := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405} {
			req, _ := http.NewRequest(method, server.URL+path, nil)
			req.Header.Set("x-api-key", alice.Key)
			res, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != status || (method == "HEAD") != (len(body) == 0) || res.Header.Get("X-Request-ID") == "" {
				t.Errorf("%s %s: %s, %d bytes, %v", method, path, res.Status, len(body), err)
			}
			if got := res.Header.Get("Allow"); (status == 405) != (got == "GET, HEAD") {
				t.Errorf("%s %s: Allow %q", method, path, got)
			}
			if method == "GET" && path == HealthPath && string(body) != `{"status":"up"}` {
				t.Errorf("health %s", body)
			}
		}
	}
}
