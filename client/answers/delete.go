package answers

import (
	"context"

	"github.com/bulkcat/bulkcat/client"
)

// Delete removes the outcomes of the requests that match, of any source, and returns how many these were. Once Delete and
// Close have returned without an error, no file of the store has them any more, nor older records of the same requests.
// The work takes the time of Compact, and the next Open makes the index anew: the database's description of its tables
// keeps some keys. After an error, a crash or the end of ctx, the outcomes may or may not be there: call Delete again.
func (s *Store) Delete(ctx context.Context, match func(source string, r client.Request) bool) (deleted int, err error) {
	var keys []sought
	err = s.Scan(func(o Stored) error {
		if match(o.Source, o.Request) {
			keys = append(keys, sought{key: appendKey(nil, o.Source, o.Request)})
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	deleted = len(keys)
	if err := s.forget(keys); err != nil {
		return 0, err
	}
	if err := s.Compact(ctx); err != nil { // also without any: a process that was killed may have left records
		return 0, err
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	s.dropIndex = true
	return deleted, nil
}

// forget makes the index lead to no record of the keys, so that compaction does not copy them.
func (s *Store) forget(keys []sought) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	if err := s.failure.err(); err != nil {
		return err
	}
	s.ahead.forget(keys)
	if err := s.index.remove(keys); err != nil {
		return err
	}
	s.replaced.Store(max(1, s.index.state.Replaced)) // compaction asks the index about each record
	return nil
}
