package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/internal/memory"
)

// stalled is the connection of a client that does not read until a channel is closed.
type stalled struct {
	httptest.ResponseRecorder
	read    <-chan struct{}
	waiting *atomic.Int64
	once    sync.Once
}

func (s *stalled) Write(b []byte) (int, error) {
	s.once.Do(func() { s.waiting.Add(1); <-s.read })
	return s.ResponseRecorder.Write(b)
}

// Clients that do not read hold a bounded part of the memory. All get their answer once they read.
func TestStalledReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const readers, size, all = 40, 100 << 10, 1 << 20
		r := newRig(clienttest.Options{}, "alice quota=100")
		r.run(t, func() {
			r.bodies = memory.New(all)
			batch := r.store.NewBatch()
			for i := range readers {
				body := fmt.Sprintf(`{"product_taxonomy":[{"value":"%d%s"}]}`, i, strings.Repeat("x", size))
				batch.Add(client.Request{Kind: client.Product, Input: fmt.Sprint("title ", i), Classification: client.ProductTaxonomy},
					answers.Outcome{Answer: client.Answer{Body: []byte(body), AnsweredAt: time.Now()}})
			}
			if err := batch.Commit(); err != nil {
				t.Fatal(err)
			}
			read, waiting := make(chan struct{}), new(atomic.Int64)
			var clients sync.WaitGroup
			for i := range readers {
				clients.Go(func() {
					w := &stalled{ResponseRecorder: *httptest.NewRecorder(), read: read, waiting: waiting}
					req := httptest.NewRequest(http.MethodGet, embedded.ProductPath+"?query=title+"+fmt.Sprint(i), nil)
					req.Header.Set("x-api-key", "alice")
					r.service.ServeHTTP(w, req)
					if got := w.Body.String(); len(got) < size || !strings.Contains(got[:40], fmt.Sprintf(`"%dx`, i)) {
						t.Errorf("client %d got %d bytes", i, len(got))
					}
				})
			}
			synctest.Wait()
			if n := waiting.Load(); n < 2 || n > all/size+1 {
				t.Errorf("%d answers are held, want %d at most", n, all/size+1)
			}
			close(read)
			clients.Wait()
		})
	})
}
