package answers

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// A store of an older format is read, and becomes one of this when it is opened for writing.
const (
	formatVersion = "3"
	formatSingle  = "2" // each answer is one value, and its key is in the database at once
	formatInline  = "1" // and the value is under a request's key
)

// formatKey sorts before every source and can be no source: none begins with NUL.
var formatKey = []byte("\x00format")

// prepare checks the format of an old store, marks a new one, and signs it.
func (s *Store) prepare() error {
	format, found, err := s.get(formatKey)
	switch {
	case err != nil:
	case !found, string(format) == formatSingle, string(format) == formatInline:
		err = s.begin()
	case string(format) == formatVersion:
		err = s.gatherRecent()
	default:
		return &VersionError{Dir: s.options.Dir, Version: string(format)}
	}
	if _, damaged := errors.AsType[*DamageError](err); damaged && s.options.ReadOnly {
		s.unreadable = err // but what is readable is to be saved; values have a version of their own
		return nil
	}
	if err != nil || s.options.ReadOnly {
		return err
	}
	if !found && s.last() == 0 {
		s.keys = new(filter)
	}
	return s.signOwner()
}

// begin makes a new or an older store one of this format.
func (s *Store) begin() error {
	if s.options.ReadOnly {
		return nil
	}
	_, err := guard(s.fate, func() (struct{}, error) {
		last, err := s.findLast()
		if err != nil {
			return struct{}{}, err
		}
		s.arrived.Store(uint64(last))
		batch := s.db.NewBatch()
		return struct{}{}, errors.Join(
			batch.Set(formatKey, []byte(formatVersion), nil),
			batch.Set(indexedKey, appendPosition(nil, last), nil), // the keys are all there
			batch.Commit(pebble.Sync), batch.Close(),
		)
	})
	return storeError(s.options.Dir, "", err)
}

// findLast finds the last position that was given.
func (s *Store) findLast() (last Position, err error) {
	it, err := s.newAnswersIter(0)
	if err != nil {
		return 0, err
	}
	for more := it.Last(); more && last == 0; more = it.Prev() { // what is no answer's key tells nothing
		last = parsePositionKey(it.Key())
	}
	return last, it.Close()
}
