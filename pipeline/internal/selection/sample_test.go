package selection

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
)

// drawn are the numbers of a sample, and the number of the other records.
func drawn(t *testing.T, records, size, limit int64) (numbers []int64, others int64) {
	t.Helper()
	var left atomic.Int64
	source := Sample(t.Context(), account.Requested{Sample: size, Limit: limit}, &numberedRecords{last: records}, &left)
	for {
		record, err := source.Read()
		if err == io.EOF {
			return numbers, left.Load()
		}
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, record.Number)
	}
}

func TestSample(t *testing.T) {
	all, _ := drawn(t, 10_000, 300, 0)
	if len(all) != 300 || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != 300 {
		t.Errorf("%d records: %v", len(all), all)
	}
	again, others := drawn(t, 10_000, 300, 0)
	if !slices.Equal(again, all) || others != 9_700 {
		t.Errorf("%d others; the sample %v", others, again)
	}
	larger, _ := drawn(t, 10_000, 1000, 0)
	for _, n := range all {
		if !slices.Contains(larger, n) {
			t.Errorf("%d is not in the larger sample", n)
		}
	}
	if few, others := drawn(t, 5, 300, 0); !slices.Equal(few, []int64{1, 2, 3, 4, 5}) || others != 0 {
		t.Errorf("%v, and %d others", few, others)
	}
	if some, others := drawn(t, 100, 10, 20); len(some) != 10 || some[9] > 20 || others != 10 {
		t.Errorf("%v, and %d others", some, others)
	}
}

// Each tenth of a list has about a tenth of the sample.
func TestSampleIsSpread(t *testing.T) {
	const size, tenths = 5000, 10
	numbers, _ := drawn(t, 100_000, size, 0)
	var counts [tenths]float64
	for _, n := range numbers {
		counts[(n-1)*tenths/100_000]++
	}
	for i, n := range counts {
		if deviation := math.Sqrt(size * 0.1 * 0.9); math.Abs(n-size/tenths) > 4*deviation {
			t.Errorf("tenth %d has %v of %d", i, n, size)
		}
	}
}

func TestSampleEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	source := Sample(ctx, account.Requested{Sample: 5}, &numberedRecords{last: 10}, new(atomic.Int64))
	if _, err := source.Read(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	failed := errors.New("damaged")
	source = Sample(t.Context(), account.Requested{Sample: 5}, failing{failed}, new(atomic.Int64))
	if _, err := source.Read(); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// numberedRecords are records without inputs.
type numberedRecords struct{ number, last int64 }

func (s *numberedRecords) Read() (reader.Record, error) {
	if s.number == s.last {
		return reader.Record{}, io.EOF
	}
	s.number++
	return reader.Record{Number: s.number}, nil
}

// failing is a source that cannot be read.
type failing struct{ err error }

func (f failing) Read() (reader.Record, error) { return reader.Record{}, f.err }
