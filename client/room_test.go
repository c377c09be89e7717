package client

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/memory"
	"github.com/bulkcat/bulkcat/client/internal/reply"
)

// flood is a transport with bodies of any length. It counts the bytes of the bodies that are being read.
type flood struct {
	status       int
	end          int64 // length of the spaces before an answer; 0 for a body without end
	held, bodies atomic.Int64
	peak         atomic.Int64
}

func (f *flood) RoundTrip(*http.Request) (*http.Response, error) {
	f.bodies.Add(1)
	return &http.Response{StatusCode: f.status, ContentLength: -1, Body: &floodBody{flood: f}}, nil
}

var spaces = strings.Repeat(" ", 32<<10)

type floodBody struct {
	*flood
	read int64
}

func (b *floodBody) Read(p []byte) (int, error) {
	runtime.Gosched() // so that all bodies are read concurrently
	n := min(len(p), len(spaces))
	if b.end > 0 && b.read >= b.end {
		n = copy(p, soundAnswer)
		b.add(n)
		return n, io.EOF
	}
	n = copy(p, spaces[:n])
	b.add(n)
	return n, nil
}

func (b *floodBody) add(n int) {
	b.read += int64(n)
	held := b.held.Add(int64(n))
	for peak := b.peak.Load(); held > peak && !b.peak.CompareAndSwap(peak, held); peak = b.peak.Load() {
	}
}

func (b *floodBody) Close() error {
	if b.end == 0 || b.status != 200 { // the client dropped the body
		b.held.Add(-b.read)
	}
	return nil
}

// The memory of many long bodies is bounded.
func TestLongBodiesShareTheMemory(t *testing.T) {
	const size = 1 << 20
	for name, tt := range map[string]struct {
		flood    *flood
		requests int64
		longest  int64
	}{
		"endless answers": {&flood{status: 200}, 4, maxBody + 1},
		"long errors":     {&flood{status: 500, end: reply.MaxErrorBody - 1<<10}, 80, reply.MaxErrorBody},
		"long answers":    {&flood{status: 200, end: 300 << 10}, 20, 301 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			f := tt.flood
			c, err := New(Options{BaseURL: "http://flood.example", Transport: f, Timeout: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.bodies = memory.New(size)
			var g sync.WaitGroup
			for range tt.requests {
				g.Go(func() {
					answer, err := c.exchange(t.Context(), testRequest)
					if (err == nil) != (f.end > 0 && f.status == 200) || f.end == 0 && !errors.Is(err, errBodyTooLarge) {
						t.Errorf("got %v", err)
					}
					f.held.Add(-int64(len(answer.Body)))
					Release(&answer)
				})
			}
			g.Wait()
			if most := size + tt.longest + tt.requests*(freeBody+bodyStep); f.peak.Load() > most {
				t.Errorf("%d KiB are held at once, want at most %d", f.peak.Load()>>10, most>>10)
			}
		})
	}
}
