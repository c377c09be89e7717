package writer

import (
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// liveHeap returns the number of bytes in use after a garbage collection.
func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// The memory for a Parquet file does not grow with its text, for cells of any length.
func TestParquetMemoryStaysFlat(t *testing.T) {
	const (
		text  = 120 << 20 // bytes: several row groups
		limit = 16 << 20
	)
	for _, length := range []int{500 << 10, 20 << 10} {
		t.Run(strconv.Itoa(length>>10)+" KiB", func(t *testing.T) {
			before, peak := liveHeap(), uint64(0)
			e, err := newParquet(io.Discard, Schema{Carry: []string{"text"}}.Columns(), nil)
			if err != nil {
				t.Fatal(err)
			}
			const looks = 8
			for n := range text / length {
				row := Row{Record: int64(n), Status: StatusInvalid, Fields: []string{strconv.Itoa(n) + strings.Repeat(" long text", length/10)}}
				if err := e.encode([]Row{row}); err != nil {
					t.Fatal(err)
				}
				if n%(text/length/looks) == 0 {
					peak = max(peak, liveHeap())
				}
			}
			if err := e.close(); err != nil {
				t.Fatal(err)
			}
			if peak = max(peak, liveHeap()); peak > before+limit {
				t.Errorf("%d MiB were held, want at most %d", (peak-before)>>20, limit>>20)
			}
			runtime.KeepAlive(e)
		})
	}
}
