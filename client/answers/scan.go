package answers

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// firstSource sorts after the store's own keys and before every source.
var firstSource = []byte{1}

// stored is an answer as it is stored. It is the visitor's only until it returns.
type stored struct {
	key     []byte // of the database
	source  string
	request client.Request
	body    []byte // as it came, or a rejection's reason
	outcome Outcome
}

// visitor is given a stored answer, or what is left of it and the reason if it is damaged.
type visitor func(a stored, damaged error) error

// scan visits the answers of all sources in the order of arrival, after those of format 1
// in the order of their keys. Damaged blocks are left out; the first such *DamageError
// comes when all the rest was visited.
func (s *Store) scan(visit visitor) error {
	_, err := guard(s.fate, func() (struct{}, error) {
		damaged := s.walk(firstSource, nil, func(key, value []byte) error { return s.visitInline(key, value, visit) })
		if _, ok := errors.AsType[*DamageError](damaged); !ok && damaged != nil {
			return struct{}{}, damaged
		}
		var p pack
		err := s.walk([]byte(answerPrefix), []byte(afterAnswers), func(key, value []byte) error { return visitPack(&p, key, value, visit) })
		if _, ok := errors.AsType[*DamageError](err); ok {
			return struct{}{}, cmp.Or(damaged, err)
		}
		return struct{}{}, errors.Join(damaged, err)
	})
	return err
}

// visitPack visits the answers of a pack, or what is damaged as one answer.
func visitPack(p *pack, key, value []byte, visit visitor) error {
	if err := p.parse(parsePositionKey(key), value); err != nil {
		return visit(stored{key: key}, err)
	}
	for i, value := range p.values {
		if len(value) == 0 {
			continue
		}
		own, body, _ := splitValue(value)
		a := stored{key: appendPositionKey(nil, p.first()+Position(i)), body: body}
		damaged := a.parse(own, value, parseValue)
		if err := visit(a, damaged); err != nil {
			return err
		}
	}
	return nil
}

// visitInline visits what is under a request's key if that is an answer, and the last one.
func (s *Store) visitInline(key, value []byte, visit visitor) error {
	if parsePosition(value) != 0 || s.recent.has(key) {
		return nil
	}
	a := stored{key: key, body: value[min(len(value), headerSize):]}
	damaged := a.parse(key, value, parseInline)
	return visit(a, damaged)
}

func (a *stored) parse(key, value []byte, parse func(key, value []byte, classification string) (Outcome, error)) error {
	var ok bool
	if a.source, a.request, ok = parseKey(key); !ok {
		return errDamaged
	}
	var err error
	a.outcome, err = parse(key, value, a.request.Classification)
	return err
}

// walk visits what lies between two keys, around what is damaged.
func (s *Store) walk(from, to []byte, visit func(key, value []byte) error) error {
	var damaged error
	for from != nil && (to == nil || bytes.Compare(from, to) < 0) {
		next, err := s.walkFrom(from, to, visit)
		if damaged == nil || next == nil && err != nil {
			damaged = err
		}
		from = next
	}
	return damaged
}

// walkFrom gives the key to go on from after damage; nil at the end.
func (s *Store) walkFrom(from, to []byte, visit func(key, value []byte) error) (next []byte, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return nil, storeError(s.options.Dir, "", err)
	}
	defer it.Close() // gives the error of the walk once more
	last := bytes.Clone(from)
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			break
		}
		last = append(last[:0], it.Key()...)
		if err := visit(last, value); err != nil {
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
