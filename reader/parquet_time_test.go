package reader

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// The end of the day is not its beginning, and a number that is no time of the day is not made one.
func TestParquetTimes(t *testing.T) {
	times := []int64{0, 3_600_000_001, 86_399_999_999, 86_400_000_000, 90_000_000_000, -1}
	want := []string{"00:00:00", "01:00:00.000001", "23:59:59.999999", "24:00:00", "25:00:00", "-1"}
	var data []byte
	for _, n := range times {
		data = binary.LittleEndian.AppendUint64(data, uint64(n))
	}
	element := required(format.Int64)
	element.LogicalType = format.LogicalType{Value: &format.TimeType{Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}}
	file := rawFile{element: element, pages: [][]byte{dataPage(len(times), len(data), format.Plain, data)}, rows: int64(len(times))}
	if got, err := parquetValues(t, file.String()); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
