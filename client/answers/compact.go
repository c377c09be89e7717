package answers

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Compact rewrites the store as small as it gets: what was replaced is dropped. When ctx
// ends, so does the work; the error is then the context's cause, and the store sound.
func (s *Store) Compact(ctx context.Context) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	_, err := guard(s.fate, func() (struct{}, error) { return struct{}{}, s.compact(ctx) })
	if err != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return storeError(s.options.Dir, "", err)
}

func (s *Store) compact(ctx context.Context) error {
	if err := s.mustWrite(s.move()); err != nil {
		return err
	}
	for _, g := range slices.Clone(s.segments.list) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g.replaced == 0 {
			continue
		}
		if err := s.mustWrite(s.reclaim(g)); err != nil {
			return err
		}
	}
	if err := s.removeUnknown(); err != nil {
		return err
	}
	return s.db.Compact(ctx, []byte{0}, []byte{0xff}, true)
}

// reclaimOne gives back the space of a segment if most of its answers have been replaced.
func (s *Store) reclaimOne() error {
	for _, g := range s.segments.list {
		if g.replaced*2 > g.answers {
			return s.reclaim(g)
		}
	}
	return nil
}

// reclaim writes what is left of a segment behind the others, and removes it. The journal
// must be empty.
func (s *Store) reclaim(g *segment) error {
	if g == s.segments.list[len(s.segments.list)-1] {
		if _, err := s.segments.begin(); err != nil {
			return err
		}
	}
	batch := s.db.NewBatch()
	if err := s.rewrite(g, batch); err != nil {
		return err
	}
	if err := batch.Delete(appendPosition([]byte(segmentPrefix), g.base), nil); err != nil {
		return err
	}
	if err := s.endMove(batch); err != nil {
		return err
	}
	return s.segments.remove(g)
}

// rewrite appends what is left of a segment, and has the keys lead there with a batch: with
// one alone, or some might lead nowhere. What is damaged is lost.
func (s *Store) rewrite(g *segment, batch *pebble.Batch) error {
	from, to := cursor{segments: &s.segments, ahead: farRead}, appender{segments: &s.segments}
	var p pack
	for at := g.base; at < g.end; {
		behind, err := from.next(at, &p)
		if err != nil && !errors.Is(err, errDamaged) {
			return err
		}
		for _, value := range p.values {
			key, _, ok := splitValue(value)
			if len(value) == 0 || !ok {
				continue
			}
			if led, err := s.place(key); err != nil {
				return err
			} else if led != 0 && led != p.at {
				continue // there is a newer one
			}
			at, err := to.add(value)
			if err != nil {
				return err
			}
			if err := batch.Set(key, appendPosition(nil, at), nil); err != nil {
				return err
			}
		}
		at = behind
	}
	g.unkept = false
	return to.end()
}

// removeUnknown removes segments that are in no use: a program has ended before it could.
func (s *Store) removeUnknown() error {
	names, err := s.options.FS.List(s.options.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := s.options.FS.PathJoin(s.options.Dir, name)
		known := slices.ContainsFunc(s.segments.list, func(g *segment) bool { return g.name == path })
		if filepath.Ext(name) != segmentExt || known {
			continue
		}
		if err := s.options.FS.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
