package selection

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
)

// Source gives the records of a run, and io.EOF after the last. *reader.Reader is a Source.
type Source interface {
	Read() (reader.Record, error)
}

// Sample returns the source of the records that a run asks for: from, or a sample of from. It adds the number of records that
// are not in the sample to others.
func Sample(ctx context.Context, r account.Requested, from Source, others *atomic.Int64) Source {
	if r.Sample == 0 {
		return from
	}
	return &sample{ctx: ctx, from: from, size: int(r.Sample), limit: r.Limit, others: others}
}

// sample is a Source of random records of the Source from, in the order of from. The first Read reads all records, and keeps the
// size records with the lowest ranks.
type sample struct {
	ctx    context.Context // ends the reading
	from   Source
	size   int
	limit  int64 // of the records of from; 0 for none
	others *atomic.Int64

	drawn bool
	left  []reader.Record
}

func (s *sample) Read() (reader.Record, error) {
	if !s.drawn {
		if err := s.draw(); err != nil {
			return reader.Record{}, err
		}
		s.drawn = true
	}
	if len(s.left) == 0 {
		return reader.Record{}, io.EOF
	}
	next := s.left[0]
	s.left[0], s.left = reader.Record{}, s.left[1:]
	return next, nil
}

// draw reads the records. It keeps up to 2*size records, so that it sorts seldom.
func (s *sample) draw() error {
	var kept []reader.Record
	all, below := int64(0), ^uint64(0)
	for ; s.limit == 0 || all < s.limit; all++ {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		record, err := s.from.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if rank(record.Number) > below {
			continue
		}
		if kept = append(kept, cloned(record)); len(kept) >= 2*s.size {
			kept = s.lowest(kept)
			below = rank(kept[len(kept)-1].Number)
		}
	}
	s.left = s.lowest(kept)
	slices.SortFunc(s.left, func(a, b reader.Record) int { return cmp.Compare(a.Number, b.Number) })
	s.others.Add(all - int64(len(s.left)))
	return nil
}

// lowest returns the size records with the lowest ranks, the lowest rank first.
func (s *sample) lowest(records []reader.Record) []reader.Record {
	slices.SortFunc(records, func(a, b reader.Record) int { return cmp.Compare(rank(a.Number), rank(b.Number)) })
	n := min(s.size, len(records))
	clear(records[n:])
	return records[:n]
}

// rank returns a pseudo-random number that depends only on the number of the record. So the same list has the same sample, and a
// larger sample includes the smaller sample.
func rank(number int64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(number))
	return xxhash.Sum64(b[:])
}

// cloned returns a copy that does not keep the reader's block of records in memory.
func cloned(r reader.Record) reader.Record {
	r.Input = strings.Clone(r.Input)
	r.Fields, r.Nulls = slices.Clone(r.Fields), slices.Clone(r.Nulls)
	for i, field := range r.Fields {
		r.Fields[i] = strings.Clone(field)
	}
	return r
}
