package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
)

// BenchmarkHit has the handler of a server answer stored requests; -cpu 1 measures one core.
func BenchmarkHit(b *testing.B) {
	const n = 1000
	r := newRig(clienttest.Options{}, "alice")
	r.run(b, func() {
		requests := make([]*http.Request, n)
		for i := range requests {
			title := fmt.Sprint("title ", i)
			requests[i] = httptest.NewRequest(http.MethodGet, embedded.ProductPath+"?query="+url.QueryEscape(title), nil)
			requests[i].Header.Set("x-api-key", "alice")
		}
		for i := range requests {
			r.persist("alice", fmt.Sprint("title ", i))
		}
		handler := r.service.Server(embedded.ServerOptions{}).Handler
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			rec := httptest.NewRecorder()
			handler.ServeHTTP(rec, requests[i*7919%n])
			if rec.Header().Get("X-Cache") != "hit" {
				b.Fatal(rec.Code)
			}
			i++
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "hits/s")
	})
}
