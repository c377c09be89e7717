package answers

import (
	"errors"
	"slices"
)

const (
	// nearRead bytes hold most packs; a longer pack takes a second read.
	nearRead = 4 << 10

	// farRead bytes are read at once where pack follows on pack.
	farRead = 64 << 10
)

// chunk is the records of packs that follow each other in one file. Nothing changes a chunk.
type chunk struct {
	from, to place
	sound    place // behind the last sound pack; 0 without one
	records  []recordRef
	bytes    int // of the records
	count    int // of the records, also of those that are not live
	damaged  []place
}

// readChunk reads packs from a place on, until the chunk has enough bytes of records. At the end
// of the log, to equals from.
func (l *log) readChunk(at place, bytes int) (c chunk, err error) {
	at, end := l.from(at)
	c = chunk{from: at, to: at, records: make([]recordRef, 0, bytes/256)}
	memory, text := make([]byte, farRead), []byte(nil)
	for c.bytes < bytes && c.to < end {
		encoded, rest, err := l.packAt(c.to, text, memory)
		if err != nil {
			return c, err
		}
		text, at = rest, c.to
		if encoded == nil {
			var empty bool
			if c.to, empty, err = l.search(at, end); err != nil {
				return c, err
			}
			if !empty {
				c.damaged = append(c.damaged, at)
			}
			continue
		}
		c.to += place(len(encoded))
		var p pack
		if !p.parse(at, encoded) {
			c.damaged = append(c.damaged, at)
			continue
		}
		c.sound = c.to
		c.bytes += len(p.memory)
		c.count += len(p.records)
		for _, record := range p.records {
			key, _ := splitRecord(record)
			c.records = append(c.records, recordRef{key: key, place: at, record: record})
		}
	}
	return c, nil
}

// readLive reads a chunk and leaves out the records that newer records have replaced, sound or not.
func (s *Store) readLive(at place, bytes int) (chunk, error) {
	replaced := s.replaced.Load() > 0 // before the log is read: compaction may remove all that are replaced
	c, err := s.log.readChunk(at, bytes)
	if err != nil || len(c.records) == 0 || !replaced {
		return c, err
	}
	c.records, _, err = s.index.divide(c.records)
	return c, err
}

// readKept reads a chunk and leaves out the records that nobody needs any more: those whose newer record is there and
// sound. The error is a *DamageError of the index if a newer record is damaged: an index that is made anew leads to the
// newest record that is sound. The caller holds writes.
func (s *Store) readKept(at place, bytes int) (chunk, error) {
	c, err := s.log.readChunk(at, bytes)
	if err != nil || len(c.records) == 0 {
		return c, s.failure.set(err)
	}
	live, replaced, err := s.index.divide(c.records)
	if err != nil {
		return c, err
	}
	c.records = live
	lost, err := s.log.fetch(replaced, func(recordRef) {})
	if err == nil && len(lost) > 0 {
		return c, s.index.explain(errDamagedPlace)
	}
	return c, s.failure.set(err)
}

// divide separates the live records of the log from the replaced ones, which get the places of the newer records. The
// error is a *DamageError if the index leads to no record of a key, or to an older one: what it does not know is not
// replaced.
func (x *index) divide(records []recordRef) (live, replaced []recordRef, err error) {
	newest := slices.Clone(records)
	if err := x.find(newest); err != nil {
		return nil, nil, err
	}
	places := make(map[string]place, len(newest))
	for _, w := range newest {
		places[string(w.key)] = w.place
	}
	live = records[:0]
	for _, r := range records {
		switch newer := places[string(r.key)]; {
		case newer == r.place:
			live = append(live, r)
		case newer > r.place:
			replaced = append(replaced, recordRef{key: r.key, place: newer})
		default:
			return nil, nil, x.explain(errors.New("an answer of the log is not in the index"))
		}
	}
	return live, replaced, nil
}
