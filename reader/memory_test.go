package reader

import (
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeated is a generated stream of size bytes: a header, and then the same row again and again.
type repeated struct {
	rest string
	row  string
	size int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.size > 0 {
		if r.rest == "" {
			r.rest = r.row
		}
		k := copy(p[n:], r.rest)
		r.rest = r.rest[k:]
		n += k
		r.size -= k
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// heapWatch measures the heap while its source is read, also within a record.
type heapWatch struct {
	source  io.Reader
	read    int
	samples int
	peak    uint64
}

// watchEvery is the number of bytes between two measurements.
const watchEvery = 5 << 20

func (w *heapWatch) Read(p []byte) (int, error) {
	n, err := w.source.Read(p)
	if before := w.read; (before+n)/watchEvery > before/watchEvery {
		w.samples++
		w.peak = max(w.peak, liveHeap())
	}
	w.read += n
	return n, err
}

// liveHeap returns the number of bytes in use after a garbage collection.
func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Reading 32 MB takes a few MB of memory for any kind of rows.
func TestMemoryStaysFlat(t *testing.T) {
	const size = 32 << 20
	const limit = 16 << 20 // a sample (4 MiB) and a buffer, each with its smaller predecessor
	padding := strings.Repeat("x", 8<<10)
	streams := []struct {
		name, format string
		source       repeated
		records      int64
	}{
		{"rows", "csv", repeated{"domain,n\n", "a.com," + padding + "\n", size}, 4_000},
		{"unclosed quotes", "csv", repeated{"domain,n\n", "\"a.com," + padding + "\n", size}, 4_000},
		{"one long line", "csv", repeated{"domain,n\n", padding, size}, 1},
		{"objects", "jsonl", repeated{"", `{"domain":"a.com","n":"` + padding + "\"}\n", size * 3 / 4}, 3_000},
	}
	for _, stream := range streams {
		t.Run(stream.name, func(t *testing.T) {
			before := liveHeap()
			watch := &heapWatch{source: &stream.source}
			r := openReader(t, Options{Paths: []string{"-"}, Stdin: watch, Format: stream.format, Candidates: candidates})
			if n, err := drain(r); err != io.EOF || n < stream.records {
				t.Fatalf("%d records, %v, want %d and the end", n, err, stream.records)
			}
			if watch.samples < 4 {
				t.Fatalf("only %d looks at the heap", watch.samples)
			}
			if watch.peak > before+limit {
				t.Errorf("%d MB were held, want at most %d", (watch.peak-before)>>20, limit>>20)
			}
		})
	}
}

func TestAllocationsPerRecord(t *testing.T) {
	tests := []struct {
		name, format string
		source       repeated
		want         float64
	}{
		{"csv", "csv", repeated{"domain,n\n", "a.com,1\n", 10 << 20}, 2},
		{"quoted csv", "csv", repeated{"domain,n\n", "\"a.com\",\"1\"\"\"\n", 10 << 20}, 2},
		{"jsonl", "jsonl", repeated{"", "{\"domain\":\"a.com\",\"n\":[1]}\n", 10 << 20}, 2},
		{"txt", "txt", repeated{"", "a.com\n", 10 << 20}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := openReader(t, Options{Paths: []string{"-"}, Stdin: &test.source, Format: test.format, Candidates: candidates})
			got := testing.AllocsPerRun(1000, func() {
				if rec, err := r.Read(); err != nil || rec.Err != nil {
					t.Fatal(err, rec.Err)
				}
			})
			if got > test.want {
				t.Errorf("%v allocations for a record, want %v", got, test.want)
			}
		})
	}
}
