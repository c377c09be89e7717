package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

func TestRoundTripperAnswersAsAServerDoes(t *testing.T) {
	s := New(Options{Grants: []Grant{{Key: "k", Quota: Unlimited}}, Logger: quiet})
	server := httptest.NewServer(s)
	defer server.Close()

	tests := []struct{ name, method, path, key, media, body string }{
		{"usage", "GET", UsagePath, "k", "application/json", ""},
		{"usage without its body", "HEAD", UsagePath, "k", "", ""},
		{"a product", "GET", ProductPath + "?query=running+shoes", "k", "", ""},
		{"a website", "GET", WebsitePath + "?url=https://hotels.example&classification=taxonomy_v3", "k", "", ""},
		{"a company", "POST", WebsitePath, "k", "application/json", `{"url":"https://dentist.example","classification":"naics"}`},
		{"a form", "POST", ProductPath, "k", "application/x-www-form-urlencoded", "query=sofa"},
		{"no key", "GET", UsagePath, "", "", ""},
		{"no operation", "GET", "/", "k", "", ""},
		{"another method", "PUT", ProductPath, "k", "", ""},
		{"a long body", "POST", ProductPath, "k", "application/json", strings.Repeat(" ", maxBody+1)},
		{"a query that is not encoded", "GET", ProductPath + "?query=%", "k", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			do := func(base string, transport http.RoundTripper) (*http.Response, string) {
				var body io.Reader
				if tt.body != "" {
					body = strings.NewReader(tt.body)
				}
				req, err := http.NewRequest(tt.method, base+tt.path, body)
				if err != nil {
					t.Fatal(err)
				}
				if tt.key != "" {
					req.Header.Set("x-api-key", tt.key)
				}
				req.Header.Set("Content-Type", tt.media)
				res, err := (&http.Client{Transport: transport}).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				got, err := io.ReadAll(res.Body)
				if err != nil {
					t.Fatal(err)
				}
				return res, string(got)
			}
			inside, got := do("http://embedded", s.RoundTripper())
			outside, want := do(server.URL, server.Client().Transport)
			if got != want || inside.Status != outside.Status || inside.ContentLength != outside.ContentLength {
				t.Errorf("in process %s, %s\nover a socket %s, %s", inside.Status, got, outside.Status, want)
			}
			for _, name := range []string{"Content-Type", "Content-Length", "Allow", CostHeader} {
				if inside.Header.Get(name) != outside.Header.Get(name) {
					t.Errorf("%s: in process %q, over a socket %q", name, inside.Header.Get(name), outside.Header.Get(name))
				}
			}
		})
	}
}

func TestRoundTripperTakesASparseRequest(t *testing.T) {
	req := &http.Request{URL: &url.URL{Path: UsagePath}}
	res, err := shared.RoundTripper().RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	if req.Method != "" || req.Header != nil || req.Body != nil {
		t.Errorf("the request was changed: %+v", req)
	}
}

// A response does not change with later requests.
func TestRoundTripperResponsesAreApart(t *testing.T) {
	ask := func(query string) *http.Response {
		req := httptest.NewRequest(http.MethodGet, target(ProductPath, "query", query), nil)
		res, err := shared.RoundTripper().RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := ask("sofa")
	want := get(t, shared, ProductPath, "query", "sofa").body
	ask("running shoes")
	if got, _ := io.ReadAll(first.Body); string(got) != want {
		t.Errorf("body %s, want %s", got, want)
	}
}

// closer records whether a request's body was closed.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestRoundTripperClosesTheBody(t *testing.T) {
	body := &closer{Reader: strings.NewReader(`{"query":"sofa"}`)}
	req := httptest.NewRequest(http.MethodPost, ProductPath, nil)
	req.Body = body
	req.Header.Set("Content-Type", "application/json")
	res, err := shared.RoundTripper().RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusOK || !body.closed {
		t.Errorf("%+v, %v, closed %v", res, err, body.closed)
	}
}

func TestRoundTripperIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	leave := canceling{cancel}
	s := New(Options{
		Grants: []Grant{{Key: "k", Quota: 1}},
		Fetch:  page.New(page.Options{Transport: leave, Logger: quiet}),
		Logger: quiet,
	})
	req := httptest.NewRequest(http.MethodGet, target(WebsitePath, "url", "https://hotels.example", "classification", "naics"), nil)
	req.Header.Set("x-api-key", "k")
	for _, when := range []string{"during the fetch", "before the request"} {
		if _, err := s.RoundTripper().RoundTrip(req.WithContext(ctx)); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled %s: error %v", when, err)
		}
	}
	if a := send(t, s, req.WithContext(ctx)); a.status != http.StatusServiceUnavailable {
		t.Errorf("canceled behind a server: %+v", a)
	}
	if account, _ := s.key("k"); account.left() != 1 {
		t.Error("a canceled request was charged")
	}
}

// canceling is a network in which the caller cancels the request.
type canceling struct{ cancel context.CancelFunc }

func (c canceling) RoundTrip(req *http.Request) (*http.Response, error) {
	c.cancel()
	return nil, req.Context().Err()
}

// slowSite takes nine seconds for a page.
type slowSite struct{}

func (slowSite) RoundTrip(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	if req.URL.Path == "/robots.txt" {
		rec.WriteHeader(http.StatusNotFound)
		return rec.Result(), nil
	}
	select {
	case <-time.After(9 * time.Second):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	rec.Header().Set("Content-Type", "text/html")
	rec.WriteString("<title>Hotels and rooms</title><p>Book a hotel room by the sea, with breakfast.")
	return rec.Result(), nil
}

// Who has waited too long for the pages of one host is told so, and not charged.
func TestQueueForOneHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{
			Grants: []Grant{{Key: "k", Quota: 100}},
			Fetch:  page.New(page.Options{Transport: slowSite{}, Logger: quiet}),
			Logger: quiet,
		})
		const asked = 6
		statuses := make(chan int, asked)
		start := time.Now()
		for i := range asked {
			go func() {
				input := fmt.Sprintf("https://hotels.example/%d", i)
				req := httptest.NewRequest(http.MethodGet, target(WebsitePath, "url", input, "classification", "naics"), nil)
				req.Header.Set("x-api-key", "k")
				statuses <- send(t, s, req).status
			}()
		}
		got := make(map[int]int)
		for range asked {
			got[<-statuses]++
		}
		if got[http.StatusOK] < 2 || got[http.StatusServiceUnavailable] < 2 {
			t.Errorf("answers by status: %v", got)
		}
		if took := time.Since(start); took > patience+time.Second {
			t.Errorf("the last one took %v", took)
		}
		if account, _ := s.key("k"); account.left() != Quota(100-got[http.StatusOK]) {
			t.Errorf("%v left after %v", account.left(), got)
		}
	})
}

func TestServerHasLimits(t *testing.T) {
	fetch := page.New(page.Options{})
	server := New(Options{Fetch: fetch}).Server(ServerOptions{Addr: "localhost:0"})
	if server.Addr != "localhost:0" || server.ReadHeaderTimeout == 0 || server.ReadTimeout == 0 || server.IdleTimeout == 0 || server.MaxHeaderBytes == 0 {
		t.Errorf("a limit is missing: %+v", server)
	}
	if server.WriteTimeout <= server.ReadTimeout+page.Limit {
		t.Errorf("a write timeout of %v leaves no time for a fetch of %v", server.WriteTimeout, page.Limit)
	}
}

func BenchmarkTitle(b *testing.B) {
	shared.WarmUp()
	transport := shared.RoundTripper()
	req := httptest.NewRequest(http.MethodGet, target(ProductPath, "query", "Men's waterproof trail running shoes, size 10, black"), nil)
	b.ReportAllocs()
	for b.Loop() {
		res, err := transport.RoundTrip(req)
		if err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res, err)
		}
	}
}
