package attempts

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Check returns an error unless path ends in .csv, .jsonl or .parquet.
func Check(path string) error {
	if !slices.Contains([]string{".csv", ".jsonl", ".parquet"}, filepath.Ext(path)) {
		return fmt.Errorf("%s must end in .csv, .jsonl or .parquet", path)
	}
	return nil
}

// publish writes the table from the log.
func (l *Log) publish() error {
	return disk.PublishFrom(l.path, func(out io.Writer) error {
		table, err := writer.NewTable[Row](out, writer.Format(filepath.Ext(l.path)[1:]))
		if err != nil {
			return err
		}
		isHeader := true
		_, err = l.each(func(line []byte) error {
			if isHeader {
				isHeader = false
				return nil
			}
			var row Row
			if err := json.Unmarshal(line, &row); err != nil {
				return fmt.Errorf("%s is damaged: %w", l.file.Name(), err)
			}
			return table.Write(row)
		})
		if err != nil {
			return err
		}
		return table.Close()
	})
}
