package attempts

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/writer"
)

// Check returns an error unless path ends in .csv, .jsonl or .parquet.
func Check(path string) error {
	_, err := formatOf(path)
	return err
}

// formatOf returns the constructor of a table, by the extension of path.
func formatOf(path string) (func(io.Writer) table, error) {
	format := formats[filepath.Ext(path)]
	if format == nil {
		return nil, fmt.Errorf("%s must end in .csv, .jsonl or .parquet", path)
	}
	return format, nil
}

var formats = map[string]func(io.Writer) table{".csv": newCSV, ".jsonl": newJSONL, ".parquet": newParquet}

// table encodes rows. The caller calls row for each row, and then end.
type table struct {
	row func(Row) error
	end func() error
}

// publish writes the table from the log.
func (l *Log) publish() error {
	format, err := formatOf(l.path)
	if err != nil {
		return err
	}
	return writer.PublishFrom(l.path, func(out io.Writer) error {
		t := format(out)
		isHeader := true
		_, err := l.each(func(line []byte) error {
			if isHeader {
				isHeader = false
				return nil
			}
			var row Row
			if err := json.Unmarshal(line, &row); err != nil {
				return fmt.Errorf("%s is damaged: %w", l.file.Name(), err)
			}
			return t.row(row)
		})
		if err != nil {
			return err
		}
		return t.end()
	})
}

func newCSV(out io.Writer) table {
	w := csv.NewWriter(out)
	err := w.Write([]string{"time", "input", "classification", "status", "milliseconds", "attempt", "cost"})
	return table{
		func(row Row) error {
			if err != nil {
				return err
			}
			cost := ""
			if row.Cost != nil {
				cost = row.Cost.String()
			}
			return w.Write([]string{
				row.Time.Format(time.RFC3339Nano), row.Input, row.Classification, row.Status,
				strconv.FormatFloat(row.Milliseconds, 'f', -1, 64), strconv.Itoa(row.Attempt), cost,
			})
		},
		func() error {
			w.Flush()
			return w.Error()
		},
	}
}

func newJSONL(out io.Writer) table {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return table{func(row Row) error { return e.Encode(row) }, func() error { return nil }}
}

// parquetRow is the Parquet schema of a Row.
type parquetRow struct {
	Time           time.Time `parquet:"time,timestamp(microsecond)"`
	Input          string    `parquet:"input"`
	Classification string    `parquet:"classification,dict"`
	Status         string    `parquet:"status,dict"`
	Milliseconds   float64   `parquet:"milliseconds"`
	Attempt        int32     `parquet:"attempt"`
	Cost           *float64  `parquet:"cost,optional"`
}

// groupRows is the maximum number of rows in a row group; they take about 10 MB.
const groupRows = 128 << 10

func newParquet(out io.Writer) table {
	w := parquet.NewGenericWriter[parquetRow](out, parquet.MaxRowsPerRowGroup(groupRows), parquet.Compression(&parquet.Zstd))
	return table{
		func(row Row) error {
			p := parquetRow{row.Time, row.Input, row.Classification, row.Status, row.Milliseconds, int32(row.Attempt), nil}
			if row.Cost != nil {
				units := row.Cost.Units()
				p.Cost = &units
			}
			_, err := w.Write([]parquetRow{p})
			return err
		},
		w.Close,
	}
}
