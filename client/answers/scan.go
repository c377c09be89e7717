package answers

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/bulkcat/bulkcat/client"
)

// Stored is an outcome that is stored. The answer has its body, as the service sent it.
type Stored struct {
	Source  string
	Request client.Request
	Outcome Outcome
}

// Scan passes the outcomes of all sources to visit, in the order of the log. Damaged packs and
// records are counted and left out. In a store that is only read, a *DamageError for missing
// files comes after all other outcomes. An error of visit ends the scan. No batch is committed
// meanwhile, and visit must not use the store.
func (s *Store) Scan(visit func(Stored) error) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	if err := s.failure.err(); err != nil {
		return err
	}
	read := s.readKept
	if s.replaced.Load() == 0 {
		read = s.log.readChunk
	}
	for at := s.log.start(); ; {
		var c chunk
		err := s.withSoundIndex(func() (err error) { c, err = read(at, chunkBytes); return err })
		if err != nil {
			return s.failure.set(err)
		}
		if c.to == c.from {
			return s.unreadable
		}
		for _, at := range c.damaged {
			s.damage.note(s.options, at, "")
		}
		for _, r := range c.records {
			source, request, ok := parseKey(string(r.key))
			if !ok {
				continue // a learned rate or a note
			}
			outcome, err := parseOutcome(r.record, request.Classification)
			if err != nil {
				s.damage.note(s.options, r.place, string(r.key))
				continue
			}
			if outcome.Rejection == nil {
				outcome.Answer.Body = bodyOf(r.record)
			}
			if err := visit(Stored{source, request, outcome}); err != nil {
				return err
			}
		}
		at = c.to
	}
}

// Size is the number of bytes of the store's files.
func (s *Store) Size() (sum int64, err error) {
	files := s.options.FS
	for _, dir := range [...]string{s.options.Dir, files.PathJoin(s.options.Dir, indexDir)} {
		names, err := files.List(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // there may be no index
			return 0, storeError(s.options.Dir, err)
		}
		for _, name := range names {
			if info, err := files.Stat(files.PathJoin(dir, name)); err == nil && !info.IsDir() { // else removed since
				sum += info.Size()
			}
		}
	}
	return sum, nil
}

// mostWarnings bounds the warnings about damage.
const mostWarnings = 10

// damage counts the damaged packs and records that were met.
type damage struct {
	mu  sync.Mutex
	met map[damaged]struct{}
}

type damaged struct {
	place place
	key   string // of a record; "" for a pack
}

// note counts damage once, and logs a warning.
func (d *damage) note(o Options, at place, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.met[damaged{at, key}]; known {
		return
	}
	if d.met == nil {
		d.met = make(map[damaged]struct{})
	}
	d.met[damaged{at, key}] = struct{}{}
	if len(d.met) > mostWarnings {
		return
	}
	source, r, _ := parseKey(key)
	o.Log.Warn("a stored answer is damaged and is ignored", "store", o.Dir,
		"source", source, "kind", r.Kind, "classification", r.Classification, "input", r.Input)
	if len(d.met) == mostWarnings {
		o.Log.Warn("further damaged answers are only counted", "store", o.Dir)
	}
}

func (d *damage) count() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.met))
}
