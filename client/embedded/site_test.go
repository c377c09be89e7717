package embedded

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// reachable is a network of origins: some fail with an error, and the others have a hotel's page.
type reachable struct {
	origins map[string]error // unlisted origins do not resolve
	tried   []string         // in order
}

func (w *reachable) RoundTrip(req *http.Request) (*http.Response, error) {
	origin := req.URL.Scheme + "://" + req.URL.Host
	if !slices.Contains(w.tried, origin) {
		w.tried = append(w.tried, origin)
	}
	if err, ok := w.origins[origin]; err != nil {
		return nil, err
	} else if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: req.URL.Host, IsNotFound: true}
	}
	rec := httptest.NewRecorder()
	if req.URL.Path == "/robots.txt" {
		rec.WriteHeader(http.StatusNotFound)
		return rec.Result(), nil
	}
	rec.Header().Set("Content-Type", "text/html")
	rec.WriteString("<title>Hotels and rooms</title><p>Book a hotel room by the sea, with breakfast.")
	return rec.Result(), nil
}

// The page of a site is found with www. and by http.
func TestSitesAreReachedInOtherSpellings(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for _, tt := range []struct {
		name, url string
		origins   map[string]error
		tried     []string
		cost      string
	}{
		{"as it is", "https://xyzzy.example/a", map[string]error{"https://xyzzy.example": nil},
			[]string{"https://xyzzy.example"}, CostPage},
		{"only with www", "https://xyzzy.example/a", map[string]error{"https://www.xyzzy.example": nil},
			[]string{"https://xyzzy.example", "https://www.xyzzy.example"}, CostPage},
		{"only by http", "https://xyzzy.example", map[string]error{"https://xyzzy.example": refused, "http://xyzzy.example": nil},
			[]string{"https://xyzzy.example", "http://xyzzy.example"}, CostPage},
		{"only with www by http", "https://xyzzy.example", map[string]error{
			"https://xyzzy.example": refused, "http://xyzzy.example": refused, "https://www.xyzzy.example": errors.New("reset"), "http://www.xyzzy.example": nil,
		}, []string{"https://xyzzy.example", "http://xyzzy.example", "https://www.xyzzy.example", "http://www.xyzzy.example"}, CostPage},
		{"nowhere", "https://xyzzy.example", nil, []string{"https://xyzzy.example", "https://www.xyzzy.example"}, CostNone},
		{"not by https where http is asked for", "http://xyzzy.example", map[string]error{"http://xyzzy.example": refused, "https://xyzzy.example": nil},
			[]string{"http://xyzzy.example", "http://www.xyzzy.example"}, CostNone},
		{"not by http at a port", "https://xyzzy.example:8443", map[string]error{"https://xyzzy.example:8443": refused},
			[]string{"https://xyzzy.example:8443", "https://www.xyzzy.example:8443"}, CostNone},
		{"not without www", "https://www.xyzzy.example", map[string]error{"https://xyzzy.example": nil},
			[]string{"https://www.xyzzy.example"}, CostNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &reachable{origins: tt.origins}
			s := New(Options{Logger: quiet, Fetch: page.New(page.Options{Mode: page.Always, Transport: w, Logger: quiet})})
			a := get(t, s, WebsitePath, "url", tt.url, "classification", "taxonomy_v3")
			if a.cost != tt.cost || !slices.Equal(w.tried, tt.tried) {
				t.Errorf("cost %s after %q, want %s after %q", a.cost, w.tried, tt.cost, tt.tried)
			}
		})
	}
}
