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
	var keys []recordRef
	err = s.Scan(func(o Stored) error {
		if match(o.Source, o.Request) {
			keys = append(keys, recordRef{key: appendKey(nil, o.Source, o.Request)})
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	s.deleting = make(map[string]bool, len(keys))
	for _, k := range keys {
		s.deleting[string(k.key)] = true
	}
	defer func() { s.deleting = nil }()
	if err := s.compact(ctx); err != nil { // also without keys: a process that was killed may have left the index
		return 0, err
	}
	s.dropIndex = true
	s.ahead.forget(keys)
	return len(keys), s.withSoundIndex(func() error { return s.index.remove(keys) })
}
