package answers

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// firstSource sorts after the store's own keys and before every source.
var firstSource = []byte{1}

// visitor is given a stored answer; parseErr is set for a damaged one. What it is given
// is its own only until it returns.
type visitor func(source string, r client.Request, value []byte, o Outcome, parseErr error) error

// scan visits the answers of all sources in the order of their keys. Damaged blocks are
// left out; the first such *DamageError comes when all the rest was visited.
func (s *Store) scan(visit visitor) error {
	_, err := guard(s.fate, func() (struct{}, error) { return struct{}{}, s.walk(visit) })
	return err
}

func (s *Store) walk(visit visitor) error {
	var damaged error
	for from := firstSource; from != nil; {
		next, err := s.walkFrom(from, visit)
		if damaged == nil || next == nil && err != nil {
			damaged = err
		}
		from = next
	}
	return damaged
}

// walkFrom gives the key to go on from after damage; nil at the end.
func (s *Store) walkFrom(from []byte, visit visitor) (next []byte, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from})
	if err != nil {
		return nil, storeError(s.options.Dir, "", err)
	}
	defer it.Close() // gives the error of the walk once more
	last := from
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			break
		}
		last = bytes.Clone(it.Key())
		source, r, ok := parseKey(last)
		o, parseErr := parseValue(last, value, r.Classification)
		if !ok {
			parseErr = errDamaged
		}
		if err := visit(source, r, value, o, parseErr); err != nil {
			return nil, err
		}
	}
	err = it.Error()
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		next = s.readableAfter(last, info.Bounds.End.Key)
	}
	return next, storeError(s.options.Dir, "", err)
}

// readableAfter looks for the end of the damage after the key last, coming from the end
// of the damaged file: nil if that does not lie ahead.
func (s *Store) readableAfter(last, end []byte) []byte {
	next := append(bytes.Clone(end), 0)
	if bytes.Compare(next, last) <= 0 {
		return nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: append(bytes.Clone(last), 0), UpperBound: next})
	if err != nil {
		return next
	}
	defer it.Close() // gives the error of the damage once more
	for it.Last(); it.Valid(); it.Prev() {
		next = bytes.Clone(it.Key())
	}
	return next
}
