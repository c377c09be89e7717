package embedded

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// discard is a ResponseWriter that reuses its header.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

func BenchmarkServeHTTP(b *testing.B) {
	bare := New(Options{Grants: []Grant{{Key: "k", Quota: Unlimited}}, Logger: quiet})
	bare.WarmUp()
	benchmarkHandler(b, bare, "k")
}

// benchmarkHandler sends the same title from as many goroutines as there are processors.
func benchmarkHandler(b *testing.B, h http.Handler, key string) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		req := httptest.NewRequest(http.MethodGet, target(ProductPath, "query", "sofa"), nil)
		req.Header.Set("x-api-key", key)
		w := &discard{header: http.Header{}}
		for pb.Next() {
			clear(w.header)
			if h.ServeHTTP(w, req); w.status != http.StatusOK {
				b.Error("status", w.status)
				return
			}
		}
	})
}

func BenchmarkFront(b *testing.B) {
	grants := []Grant{{Key: "k", Quota: Unlimited}, {Key: "limited", Quota: 1 << 60, Rate: Rate{1e9, 1}, Burst: 1e9}}
	s := New(Options{Grants: grants, Logger: quiet})
	s.WarmUp()
	logged := slog.New(slog.NewJSONHandler(io.Discard, nil))
	b.Run("plain", func(b *testing.B) { benchmarkHandler(b, newFront(s, ServerOptions{}), "k") })
	b.Run("limited", func(b *testing.B) { benchmarkHandler(b, newFront(s, ServerOptions{}), "limited") })
	b.Run("logged", func(b *testing.B) { benchmarkHandler(b, newFront(s, ServerOptions{AccessLog: logged}), "k") })
}
