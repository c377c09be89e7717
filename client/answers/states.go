package answers

import (
	"bytes"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// These, like formatKey, sort before every source. Behind the prefix is a segment's base, 8
// bytes, big endian.
const (
	segmentPrefix = "\x00segment\x00"
	afterSegments = "\x00segment\x01"
)

// loadSegments opens the segments that the database knows of.
func (s *Store) loadSegments() error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte(segmentPrefix), UpperBound: []byte(afterSegments)})
	if err != nil {
		return err
	}
	defer it.Close() // gives the error of the walk once more
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		state, ok := parseSegmentState(it.Key(), value)
		if !ok {
			return &DamageError{Dir: s.options.Dir, File: string(it.Key()), Err: errDamaged}
		}
		if err := s.segments.add(state); err != nil {
			return err
		}
	}
	return it.Error()
}

// keepSegments puts into a batch what has changed of the segments.
func (s *Store) keepSegments(batch *pebble.Batch) error {
	for _, g := range s.segments.list {
		if !g.unkept {
			continue
		}
		if err := batch.Set(appendPosition([]byte(segmentPrefix), g.base), appendSegmentState(nil, g.segmentState), nil); err != nil {
			return err
		}
		g.unkept = false
	}
	return nil
}

func appendSegmentState(dst []byte, state segmentState) []byte {
	for _, n := range [...]uint64{uint64(state.end), state.answers, state.replaced} {
		dst = binary.BigEndian.AppendUint64(dst, n)
	}
	return dst
}

func parseSegmentState(key, value []byte) (state segmentState, ok bool) {
	base, ok := bytes.CutPrefix(key, []byte(segmentPrefix))
	if !ok || len(value) != 24 {
		return segmentState{}, false
	}
	state = segmentState{
		base:     parsePosition(base),
		end:      position(binary.BigEndian.Uint64(value)),
		answers:  binary.BigEndian.Uint64(value[8:]),
		replaced: binary.BigEndian.Uint64(value[16:]),
	}
	return state, state.base >= firstPosition && state.end >= state.base
}
