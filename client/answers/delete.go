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
	s.leaveOut(keys)
	defer s.leaveOut(nil)
	if err := s.Compact(ctx); err != nil { // also without keys: a process that was killed may have left the index
		return 0, err
	}
	deleted = len(keys)
	return deleted, s.forget(keys)
}

// leaveOut has compaction leave out the records of keys.
func (s *Store) leaveOut(keys []sought) {
	s.writes.Lock()
	defer s.writes.Unlock()
	s.deleting = make(map[string]bool, len(keys))
	for _, k := range keys {
		s.deleting[string(k.key)] = true
	}
}

// forget makes the index lead to no record of the keys, and has Close remove the index.
func (s *Store) forget(keys []sought) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	s.dropIndex = true
	s.ahead.forget(keys)
	return s.index.remove(keys)
}
