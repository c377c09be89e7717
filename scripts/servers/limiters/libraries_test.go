package limiters

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/didip/tollbooth/v7"
	chi "github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/httprate"
	limits "github.com/ulule/limiter/v3"
	ulule "github.com/ulule/limiter/v3/drivers/middleware/stdlib"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// A middleware is a handler before another one.
type middleware func(http.Handler) http.Handler

// all is a reverse proxy with a middleware before all paths.
func all(create func() middleware) start {
	return func(t *testing.T, s *clienttest.Endpoint) string {
		t.Helper()
		target, err := url.Parse(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
		server := httptest.NewServer(create()(proxy))
		t.Cleanup(server.Close)
		return server.URL
	}
}

// categorizations is the same with the middleware before categorizations only.
func categorizations(create func() middleware) start {
	return all(func() middleware {
		limit := create()
		return func(next http.Handler) http.Handler {
			mux := http.NewServeMux()
			mux.Handle("/", next)
			mux.Handle("/api/v1/", limit(next))
			return mux
		}
	})
}

func key(r *http.Request) string { return r.Header.Get("X-Api-Key") }

// withHTTPRate estimates a sliding window from two fixed ones.
func withHTTPRate() middleware {
	return httprate.LimitBy(600, time.Minute, func(r *http.Request) (string, error) { return key(r), nil })
}

var sixHundredAMinute = limits.Rate{Period: time.Minute, Limit: 600}

// withUlule has fixed windows that begin with a client's first request.
func withUlule() middleware {
	limiter := limits.New(memory.NewStore(), sixHundredAMinute)
	return ulule.NewMiddleware(limiter, ulule.WithKeyGetter(key)).Handler
}

// likeBucket4j is the same with the refusals of bucket4j's starter for Spring, and without headers.
func likeBucket4j() middleware {
	limiter := limits.New(memory.NewStore(), sixHundredAMinute)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			window, err := limiter.Get(r.Context(), key(r))
			switch {
			case err != nil:
				http.Error(w, err.Error(), http.StatusInternalServerError)
			case window.Reached:
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, `{ "status": 429, "error": "Too Many Requests", "message": "You have exhausted your API Request Quota" }`)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

// withTollbooth has a token bucket.
func withTollbooth() middleware {
	limiter := tollbooth.NewLimiter(10, nil)
	return func(next http.Handler) http.Handler { return tollbooth.LimitHandler(limiter, next) }
}

// withThrottle limits the requests that are answered at the same time.
func withThrottle() middleware {
	return chi.ThrottleWithOpts(chi.ThrottleOpts{Limit: 8, StatusCode: http.StatusServiceUnavailable})
}
