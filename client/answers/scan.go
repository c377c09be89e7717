package answers

import (
	"errors"
	"io"

	"github.com/bulkcat/bulkcat/client"
)

// stored is an answer as it is stored. It is the visitor's only until it returns.
type stored struct {
	key     []byte // of the request; of a damaged pack, where it is
	source  string
	request client.Request
	body    []byte // as it came, or a rejection's reason
	outcome Outcome
}

// visitor is given a stored answer, or what is left of it and the reason if it is damaged.
type visitor func(a stored, damaged error) error

// scan visits the answers of all sources in the order of arrival. What can't be read is left
// out; a *DamageError that Open has met for it comes when all the rest was visited.
func (s *Store) scan(visit visitor) error {
	s.commits.Lock() // so that nothing moves meanwhile
	defer s.commits.Unlock()
	_, err := guard(s.fate, func() (struct{}, error) {
		if err := s.scanSegments(visit); err != nil {
			return struct{}{}, err
		}
		for _, value := range s.recent.all() {
			if err := visitValue(value, visit); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, s.unreadable
	})
	return err
}

func (s *Store) scanSegments(visit visitor) error {
	from := cursor{segments: &s.segments, ahead: farRead}
	var p pack
	for at := firstPosition; ; {
		behind, err := from.next(at, &p)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errDamaged):
			err = visit(stored{key: appendPosition(nil, p.at)}, err)
		case err == nil:
			err = s.visitPack(&p, visit)
		default:
			err = storeError(s.options.Dir, "", err)
		}
		if err != nil {
			return err
		}
		at = behind
	}
}

// visitPack visits the answers of a pack that have not been replaced. Where nothing is
// written, the marks of the latest replaced ones may be missing.
func (s *Store) visitPack(p *pack, visit visitor) error {
	for _, value := range p.values {
		key, _, ok := splitValue(value)
		if len(value) == 0 || ok && s.recent.has(key) {
			continue
		}
		if err := visitValue(value, visit); err != nil {
			return err
		}
	}
	return nil
}

func visitValue(value []byte, visit visitor) error {
	key, body, _ := splitValue(value)
	a := stored{key: key, body: body}
	damaged := a.parse(value)
	return visit(a, damaged)
}

func (a *stored) parse(value []byte) error {
	var ok bool
	if a.source, a.request, ok = parseKey(a.key); !ok {
		return errDamaged
	}
	var err error
	a.outcome, err = parseValue(a.key, value, a.request.Classification)
	return err
}
