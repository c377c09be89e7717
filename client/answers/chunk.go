package answers

import "slices"

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
	records  []sought
	bytes    int // of the records
	count    int // of the records, also of those that are not live
	damaged  []place
}

// readChunk reads packs from a place on, until the chunk has enough bytes of records. At the end
// of the log, to equals from.
func (l *log) readChunk(at place, bytes int) (c chunk, err error) {
	at, end := l.from(at)
	c = chunk{from: at, to: at, records: make([]sought, 0, bytes/256)}
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
			c.records = append(c.records, sought{key: key, place: at, record: record})
		}
	}
	return c, nil
}

// readLive reads a chunk and leaves out the records that newer records have replaced.
func (s *Store) readLive(at place, bytes int) (chunk, error) {
	replaced := s.replaced.Load() > 0 // before the log is read: compaction may remove all that are replaced
	c, err := s.log.readChunk(at, bytes)
	if err != nil || len(c.records) == 0 || !replaced {
		return c, err
	}
	newest := slices.Clone(c.records)
	if err := s.index.find(newest); err != nil {
		return c, err
	}
	places := make(map[string]place, len(newest))
	for _, w := range newest {
		places[string(w.key)] = w.place
	}
	c.records = slices.DeleteFunc(c.records, func(r sought) bool { return places[string(r.key)] != r.place })
	return c, nil
}
