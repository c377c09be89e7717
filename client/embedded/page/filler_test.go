package page

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/memory"
)

// paused is a body that pauses before its end.
type paused struct {
	io.Reader
	rest string
}

func (p *paused) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err == io.EOF && p.rest != "" {
		time.Sleep(time.Second)
		p.Reader, p.rest, err = strings.NewReader(p.rest), "", nil
	}
	return n, err
}

// liveHeap is how many bytes are in use after a collection.
func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Many pages, each with a tag of very many attributes, take a limited memory together.
func TestHeavyPagesShareTheMemory(t *testing.T) {
	const (
		pages  = 16
		length = 300 << 10
		limit  = allTokens + tagCost*length + pages*(1<<20) // all, the one alone, and what each has for itself
	)
	var body strings.Builder
	body.WriteString("<title>Shop</title><p")
	for i := 0; body.Len() < length; i++ {
		fmt.Fprintf(&body, " %x", i)
	}
	before, peak := liveHeap(), uint64(0)
	synctest.Test(t, func(t *testing.T) {
		defer func(outside *memory.Pool) { tokens = outside }(tokens)
		tokens = memory.New(allTokens)
		var g sync.WaitGroup
		for range pages {
			g.Go(func() {
				page, err := read(t.Context(), &paused{strings.NewReader(body.String()), ">late"}, "text/html")
				if err != nil || page.Title != "Shop" || page.Text != "late" {
					t.Errorf("title %q, text %q, error %v", page.Title, page.Text, err)
				}
			})
		}
		for range 3 { // times that all pages have come to their pause, or wait
			time.Sleep(time.Second / 2)
			peak = max(peak, liveHeap())
			time.Sleep(time.Second / 2)
		}
		g.Wait()
	})
	if peak > before+limit {
		t.Errorf("%d MiB were held, want at most %d", (peak-before)>>20, limit>>20)
	}
}
