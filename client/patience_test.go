package client

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The timeout grows while nothing is answered in time, unless it was given, and falls back after an outage.
func TestTimeoutGrows(t *testing.T) {
	const never = time.Hour
	s := func(seconds ...time.Duration) (list []time.Duration) {
		for _, n := range seconds {
			list = append(list, n*time.Second)
		}
		return list
	}
	for _, tt := range []struct {
		name    string
		options Options
		takes   []time.Duration // of the attempts, one after another
		want    []time.Duration // the timeouts that they had
	}{
		{"quick", Options{}, s(1, 1, 1), s(30, 30, 30)},
		{"two are slow", Options{}, s(40, 40, 1, 40), s(30, 30, 30, 30)},
		{"slow", Options{}, s(40, 40, 40, 40, 40), s(30, 30, 30, 60, 60)},
		{"slower", Options{}, s(90, 90, 90, 90, 90, 90, 90, 1), s(30, 30, 30, 60, 60, 60, 120, 120)},
		{"hangs", Options{}, s(3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600), s(30, 30, 30, 60, 60, 60, 120, 120, 120, 120)},
		{"an outage", Options{}, []time.Duration{never, never, never, never, time.Second, never}, s(30, 30, 30, 60, 60, 30)},
		{"slow, now and then quick", Options{}, s(40, 40, 40, 40, 1, 40), s(30, 30, 30, 60, 60, 60)},
		{"given", Options{Timeout: 10 * time.Second}, s(40, 40, 40, 40), s(10, 10, 10, 10)},
		{"given with a bound", Options{Timeout: 10 * time.Second, MostTimeout: 15 * time.Second}, s(40, 40, 40, 40), s(10, 10, 10, 15)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				tt.options.BaseURL = "http://service"
				tt.options.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
					select {
					case <-time.After(tt.takes[n]):
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
					w := httptest.NewRecorder()
					_, _ = w.WriteString(`{"taxonomy_v3":[]}`)
					return w.Result(), nil
				})
				c, err := New(tt.options)
				if err != nil {
					t.Fatal(err)
				}
				for n = range tt.takes {
					limit, began := c.timeout(), time.Now()
					_, err := c.exchange(t.Context(), testRequest)
					slow, late := errors.AsType[*TimeoutError](err)
					if limit != tt.want[n] || late != (tt.takes[n] > limit) || late && (slow.Timeout != limit || time.Since(began) != limit) {
						t.Errorf("attempt %d with %v after %v: %v", n+1, limit, time.Since(began), err)
					}
				}
			})
		})
	}
}
