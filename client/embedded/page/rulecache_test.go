package page

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// robotic is a network of sites whose robots.txt a test sets, by origin. It
// counts how often each URL was asked for.
type robotic struct {
	robots func(req *http.Request) (*http.Response, error)

	mu    sync.Mutex
	asked map[string]int
}

func (r *robotic) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[string]int{}
	}
	r.asked[req.URL.String()]++
	if req.URL.Path == robotsPath {
		return r.robots(req)
	}
	return respond(req, 200, "<title>Home</title>", "Content-Type", mediaHTML), nil
}

func text(body string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) { return respond(req, 200, body), nil }
}

func status(code int) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) { return respond(req, code, "Disallow: /"), nil }
}

func TestRobots(t *testing.T) {
	tests := []struct {
		name   string
		robots func(*http.Request) (*http.Response, error)
		url    string
		want   FailureKind
	}{
		{"allowed", text("User-agent: *\nDisallow: /private"), "https://site.example", ""},
		{"disallowed", text("User-agent: *\nDisallow: /private"), "https://site.example/private/a", Robots},
		{"the start page disallowed", text("User-agent: *\nDisallow: /"), "https://site.example", Robots},
		{"disallowed to us", text("User-agent: bulkcat\nDisallow: /"), "https://site.example/", Robots},
		{"disallowed to others", text("User-agent: other\nDisallow: /"), "https://site.example/", ""},
		{"a query disallowed", text("User-agent: *\nDisallow: /*?sid="), "https://site.example/?sid=1", Robots},
		{"not there", status(404), "https://site.example/", ""},
		{"forbidden", status(403), "https://site.example/", ""},
		{"too many requests", status(429), "https://site.example/", ""},
		{"out of order", status(503), "https://site.example/", Robots},
		{"a status nobody knows", status(600), "https://site.example/", Robots},
		{"no connection", func(*http.Request) (*http.Response, error) { return nil, errNoHost }, "https://site.example/", Unreachable},
		{"broken off", func(req *http.Request) (*http.Response, error) {
			res := respond(req, 200, "")
			res.Body = io.NopCloser(io.MultiReader(strings.NewReader("User-agent: *\n"), errReader{}))
			return res, nil
		}, "https://site.example/", Broken},
		{"a redirect to rules", func(req *http.Request) (*http.Response, error) {
			if req.URL.Host == "site.example" {
				return respond(req, 301, "", "Location", "https://www.site.example/robots.txt"), nil
			}
			return respond(req, 200, "User-agent: *\nDisallow: /"), nil
		}, "https://site.example/", Robots},
		{"a redirect to nowhere", func(req *http.Request) (*http.Response, error) {
			return respond(req, 301, "", "Location", "/robots.txt"), nil
		}, "https://site.example/", ""},
		{"a redirect that is none", status(302), "https://site.example/", ""},
		{"a redirect to no URL", func(req *http.Request) (*http.Response, error) {
			return respond(req, 302, "", "Location", "http://a b:c/"), nil
		}, "https://site.example/", BadURL},
		{"an endless file", func(req *http.Request) (*http.Response, error) {
			res := respond(req, 200, "")
			res.Body = &endless{text: "User-agent: *\nDisallow: /private\n"}
			return res, nil
		}, "https://site.example/", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := New(Options{Transport: &robotic{robots: tt.robots}}).Fetch(t.Context(), tt.url)
			switch {
			case tt.want != "":
				wantReason(t, err, tt.want)
			case err != nil || page.Title != "Home":
				t.Errorf("title %q, error %v", page.Title, err)
			}
		})
	}
}

func TestRobotsAreFetchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &robotic{robots: func(req *http.Request) (*http.Response, error) {
			if !strings.HasPrefix(req.URL.Host, "www.") {
				return respond(req, 301, "", "Location", "https://www."+req.URL.Host+"/robots.txt"), nil
			}
			return respond(req, 200, "User-agent: *\nDisallow: /private"), nil
		}}
		f := New(Options{Transport: site})
		fetch := func() {
			var done sync.WaitGroup
			for i := range 50 {
				done.Go(func() {
					for _, host := range []string{"one.example", "www.one.example", "two.example"} {
						if _, err := f.Fetch(t.Context(), fmt.Sprintf("https://%s/%d", host, i)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			done.Wait()
		}
		want := func(n int) {
			t.Helper()
			for _, origin := range []string{"https://one.example", "https://two.example", "https://www.two.example"} {
				if got := site.asked[origin+robotsPath]; got != n {
					t.Errorf("%s%s was fetched %d times, want %d", origin, robotsPath, got, n)
				}
			}
		}
		fetch()
		want(1)
		time.Sleep(rulesLast - time.Nanosecond)
		fetch()
		want(1)
		time.Sleep(time.Nanosecond)
		fetch()
		want(2)
	})
}

// An unreachable site is tried once, not once for each of its pages, and counts once as silent.
func TestSilenceIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &robotic{robots: func(*http.Request) (*http.Response, error) { return nil, errNoHost }}
		f := New(Options{Transport: site})
		for range 3 * sitesSilent {
			_, err := f.Fetch(t.Context(), "https://silent.example/")
			wantReason(t, err, Unreachable)
		}
		if got := site.asked["https://silent.example/robots.txt"]; got != 1 {
			t.Errorf("%d attempts, want 1", got)
		}
		time.Sleep(silenceLasts)
		site.robots = status(404)
		if _, err := f.Fetch(t.Context(), "https://silent.example/"); err != nil {
			t.Error(err)
		}
	})
}

func TestACanceledFetchIsNotRemembered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	site := &robotic{robots: func(req *http.Request) (*http.Response, error) {
		cancel()
		return nil, req.Context().Err()
	}}
	f := New(Options{Transport: site})
	_, err := f.Fetch(ctx, "https://site.example/")
	wantReason(t, err, Canceled)
	site.robots = status(404)
	if _, err := f.Fetch(t.Context(), "https://site.example/"); err != nil {
		t.Error(err)
	}
}

func TestRuleCacheIsBounded(t *testing.T) {
	var pattern strings.Builder
	for pattern.Len() < 400<<10 {
		fmt.Fprintf(&pattern, "Disallow: /%d\n", pattern.Len())
	}
	f := New(Options{Transport: &robotic{robots: text("User-agent: *\n" + pattern.String())}})
	const visits = 60
	for i := range visits {
		if _, err := f.Fetch(t.Context(), fmt.Sprintf("https://site%d.example/", i)); err != nil {
			t.Fatal(err)
		}
	}
	cache := &f.ruleCache
	size := 0
	for _, half := range []map[string]originRules{cache.newer, cache.older} {
		for _, c := range half {
			size += c.size()
		}
	}
	if kept := len(cache.newer) + len(cache.older); size > maxRuleCache || kept == 0 || kept == visits {
		t.Errorf("%d bytes of %d origins", size, kept)
	}
	if cache.find("https://site0.example") != nil || cache.find(fmt.Sprintf("https://site%d.example", visits-1)) == nil {
		t.Error("the last one visited must stay, the first one go")
	}
}

// busy is a network that takes a second for a request, and counts how many are
// under way at each host.
type busy struct {
	mu       sync.Mutex
	underway map[string]int
	most     int
	requests atomic.Int64
}

func (b *busy) RoundTrip(req *http.Request) (*http.Response, error) {
	host := strings.ToLower(req.URL.Hostname())
	b.requests.Add(1)
	b.mu.Lock()
	b.underway[host]++
	b.most = max(b.most, b.underway[host])
	b.mu.Unlock()
	time.Sleep(time.Second)
	b.mu.Lock()
	b.underway[host]--
	b.mu.Unlock()
	switch {
	case req.URL.Path == robotsPath:
		return respond(req, 404, ""), nil
	case req.URL.Path == "/away": // two hosts that send visitors to each other
		other := map[string]string{"a.example": "b.example", "b.example": "a.example"}[host]
		return respond(req, 302, "", "Location", "https://"+other+"/"), nil
	}
	return respond(req, 200, "<title>Home</title>", "Content-Type", mediaHTML), nil
}

func TestOneRequestAtATimePerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &busy{underway: map[string]int{}}
		f := New(Options{Transport: site})
		start := time.Now()
		var done sync.WaitGroup
		for i := range 20 {
			for _, url := range []string{"https://a.example/away", "https://B.example/away", "http://a.example:8080/"} {
				done.Go(func() {
					// The wait of 40 s does not count as time of the page.
					if _, err := f.Fetch(t.Context(), fmt.Sprintf("%s?%d", url, i)); err != nil {
						t.Error(err)
					}
				})
			}
		}
		done.Wait()
		if site.most != 1 {
			t.Errorf("%d requests at a time, want 1", site.most)
		}
		// Host a: two robots.txt, 20 pages of its own, 20 redirects, 20 visitors from b.
		if took, want := time.Since(start), 62*time.Second; took < want || took > want+5*time.Second {
			t.Errorf("took %v, want %v: hosts must not wait for each other", took, want)
		}
		if len(f.hosts.locks) != 0 || len(f.ruleCache.learning.locks) != 0 {
			t.Errorf("%d locks are left", len(f.hosts.locks))
		}
	})
}

func TestACanceledWaitHoldsNoLock(t *testing.T) {
	var locks keyLocks
	unlock, err := locks.lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := locks.lock(gone, "a"); err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	unlock()
	if unlock, err = locks.lock(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	unlock()
	if len(locks.locks) != 0 {
		t.Error("a lock is left")
	}
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{Rate: 2, Transport: transport(site)})
		start := time.Now()
		var done sync.WaitGroup
		for range 21 {
			done.Go(func() {
				if _, err := f.Fetch(t.Context(), "https://example.com/moved"); err != nil { // hops are not counted
					t.Error(err)
				}
			})
		}
		done.Wait()
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("21 pages at 2/s took %v, want 10s", took)
		}
	})
}

func TestRateWaitsUntilTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{Rate: 0.01, Transport: transport(site)})
		for _, want := range []FailureKind{"", Canceled} {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			start := time.Now()
			_, err := f.Fetch(ctx, "https://example.com/")
			if want != "" {
				wantReason(t, err, want)
				if took := time.Since(start); took != 30*time.Second {
					t.Errorf("waited %v, want 30s", took)
				}
			} else if err != nil {
				t.Error(err)
			}
			cancel()
		}
	})
}
