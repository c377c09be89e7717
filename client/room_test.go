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
)

// flood is a transport whose bodies are as long as they can be read. It counts the bytes of
// those that are being read.
type flood struct {
	status       int
	end          int64 // where a body ends, with an answer; 0 for never
	held, bodies atomic.Int64
	peak         atomic.Int64
}

func (f *flood) RoundTrip(*http.Request) (*http.Response, error) {
	f.bodies.Add(1)
	return &http.Response{StatusCode: f.status, ContentLength: -1, Body: &floodBody{flood: f}}, nil
}

type floodBody struct {
	*flood
	read int64
}

func (b *floodBody) Read(p []byte) (int, error) {
	runtime.Gosched() // let the others read as well
	n := min(len(p), 32<<10)
	if b.end > 0 && b.read+int64(n) >= b.end {
		n = copy(p, strings.Repeat(" ", int(max(0, b.end-b.read-int64(len(soundAnswer)))))+soundAnswer)
		b.add(n)
		return n, io.EOF
	}
	for i := range p[:n] {
		p[i] = ' '
	}
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
	if b.end == 0 {
		b.held.Add(-b.read)
	}
	return nil
}

// However many bodies are long, together they are bounded.
func TestLongBodiesShareTheMemory(t *testing.T) {
	const requests = 60
	for name, f := range map[string]*flood{
		"endless answers": {status: 200},
		"endless errors":  {status: 500},
		"long answers":    {status: 200, end: 3 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(Options{BaseURL: "http://flood.example", Transport: f})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var g sync.WaitGroup
			for range requests {
				g.Go(func() {
					answer, err := c.Categorize(t.Context(), testRequest)
					if f.end == 0 && ClassOf(err) != Transient || f.end > 0 && err != nil || f.end == 0 && f.status == 200 && !errors.Is(err, errBodyTooLarge) {
						t.Errorf("got %v", err)
					}
					f.held.Add(-int64(len(answer.Body)))
					answer.Release()
				})
			}
			g.Wait()
			if most := int64(allBodies + maxBody + 1 + requests*(freeBody+bodyStep)); f.peak.Load() > most {
				t.Errorf("%d KiB are held at once, want at most %d", f.peak.Load()>>10, most>>10)
			}
			if f.peak.Load() < allBodies && f.end == 0 && f.status == 200 {
				t.Errorf("only %d KiB are held at once: nothing was put to the test", f.peak.Load()>>10)
			}
		})
	}
}
