package flow

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// longTexts is a Source of records of which every third has a long field.
type longTexts struct {
	records, length int
	read            int
}

func (s *longTexts) Read() (reader.Record, error) {
	if s.read == s.records {
		return reader.Record{}, io.EOF
	}
	s.read++
	text := fmt.Sprint(s.read)
	if s.read%3 == 0 {
		text = strings.Repeat(text+" ", s.length/(len(text)+1))
	}
	return reader.Record{Number: int64(s.read), Input: fmt.Sprintf("title %d", s.read), Fields: []string{text}}, nil
}

// heapWatch is a Sink that measures the heap while rows are written.
type heapWatch struct {
	writes int
	peak   uint64
}

func (s *heapWatch) Write([]writer.Row) error {
	if s.writes++; s.writes%8 == 0 {
		s.peak = max(s.peak, liveHeap())
	}
	return nil
}

func (s *heapWatch) Close() (writer.Published, error) { return writer.Published{}, nil }
func (s *heapWatch) Abort() error                     { return nil }

// liveHeap is how many bytes are in use after a collection.
func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// A run holds no more text than its window, and the rows that the writer holds.
func TestMemoryStaysWithinTheWindow(t *testing.T) {
	const (
		window = 8 << 20
		limit  = window + rowBatches*(bytesPerWrite+bytesPerWrite/2) + 8<<20 // for all that is no text
	)
	source, sink := &longTexts{records: 1200, length: 400 << 10}, new(heapWatch)
	before := liveHeap()
	_, err := Run(t.Context(), Parts{
		Source: source, Attempter: new(service), Sink: sink,
		Limits: limits.New(limits.Options{Rate: math.Inf(1), InFlight: 4}, time.Now()),
	}, Options{
		Kind: client.Product, Classifications: []Classification{{Name: client.ProductTaxonomy}}, Window: window,
		Schema: writer.Schema{Carry: []string{"text"}}, Carry: []int{0},
	})
	if err != nil {
		t.Fatal(err)
	}
	if sink.writes < 16 {
		t.Fatalf("only %d writes", sink.writes)
	}
	if sink.peak > before+limit {
		t.Errorf("%d MiB were held, want at most %d", (sink.peak-before)>>20, limit>>20)
	}
}
