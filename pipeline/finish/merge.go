package finish

import (
	"context"
	"fmt"
	"iter"

	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/writer"
)

// shard reads the rows of a shard.
type shard struct {
	next func() (*writer.Row, error, bool)
	row  *writer.Row // the next row
}

// merge writes the rows of all shards to the sink, in input order. Memory grows with the number of shards, not with the number
// of rows.
func (f *finishing) merge(ctx context.Context, sink writer.Sink) error {
	waiting := make(map[int64]*shard) // keyed by the record of the next row
	advance := func(s *shard) error {
		row, err, ok := s.next()
		if s.row = row; ok && err == nil && waiting[row.Record] == nil {
			waiting[row.Record] = s
		} else if ok && err == nil {
			err = fmt.Errorf("record %d is in two shards", row.Record)
		}
		return err
	}
	for _, folder := range runfiles.Folders(f.shards, f.Folder) {
		parts, err := readback.List(ctx, folder, &f.shards.Settings)
		if err != nil {
			return err
		}
		s := new(shard)
		var stop func()
		s.next, stop = iter.Pull2(readback.Rows(ctx, parts))
		defer stop()
		if err := advance(s); err != nil {
			return err
		}
	}
	next := make([]writer.Row, 1)
	for record := int64(1); len(waiting) > 0; {
		s := waiting[record]
		if s == nil {
			record++
			if s = waiting[record]; s == nil {
				return fmt.Errorf("record %d is in no shard", record)
			}
		}
		delete(waiting, record)
		next[0] = *s.row
		if err := sink.Write(next); err != nil {
			return err
		}
		if err := advance(s); err != nil {
			return err
		}
	}
	return nil
}
