package answers

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// moved keys go to the database with one write. One that would fill half of a table in
	// memory has the database begin a new log on the spot, and wait for the old one.
	moved      = 2 << 10
	movedBytes = 1 << 20
)

// move moves the recent answers to the segments, and their keys to the database, which then
// leads there. It is done when the database has the new end of the segments: until then the
// answers are gathered from the journal again, and what was written of segments is written
// over. Segments are durable first, and with them the marks: who is not led to an older
// answer any more can't mark it.
func (s *Store) move() error {
	if len(s.recent.places) == 0 {
		return nil
	}
	places, err := s.segments.append(s.recent.values)
	if err != nil {
		return err
	}
	batch := s.db.NewBatch()
	if err := s.moveKeys(batch, places); err != nil {
		return err
	}
	if err := s.endMove(batch); err != nil {
		return err
	}
	return s.reclaimOne()
}

// endMove makes durable what leads to segments, and their new end.
func (s *Store) endMove(batch *pebble.Batch) error {
	if err := s.keepSegments(batch); err != nil {
		return err
	}
	if err := batch.Commit(pebble.Sync); err != nil {
		return err
	}
	s.recent.drop()
	return errors.Join(batch.Close(), s.journal.beginAnew(s.segments.end()))
}

// append appends values, but for those that are nil, and gives the positions of their packs.
func (s *segments) append(values [][]byte) (places []position, err error) {
	to := appender{segments: s}
	places = make([]position, len(values))
	for i, value := range values {
		if value == nil {
			continue
		}
		if places[i], err = to.add(value); err != nil {
			return nil, err
		}
	}
	return places, to.end()
}

// moveKeys has the keys of recent answers lead to their places, and leaves hints there. The
// last of them are left in the batch.
func (s *Store) moveKeys(batch *pebble.Batch, places []position) error {
	var key, value []byte
	for _, k := range s.recent.sort(places) {
		key, value = append(key[:0], k.key...), appendPosition(value[:0], k.place)
		if s.hints.wanted() {
			s.hints.add(hashKey(key), k.place)
		}
		if err := batch.Set(key, value, nil); err != nil {
			return err
		}
		if batch.Count() < moved && batch.Len() < movedBytes {
			continue
		}
		if err := batch.Commit(pebble.NoSync); err != nil {
			return err
		}
		batch.Reset()
	}
	return nil
}
