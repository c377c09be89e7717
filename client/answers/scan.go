package answers

import (
	"sync"

	"github.com/bulkcat/bulkcat/client"
)

// live is an outcome of the log that no newer outcome replaces.
type live struct {
	source  string
	request client.Request
	body    []byte // of the answer as the service sent it, or a rejection's reason
	outcome Outcome
}

// scan passes the outcomes of all sources to visit, in the order of the log. Damaged packs and
// records are counted and left out. In a store that is only read, a *DamageError for missing
// files comes after all other outcomes.
func (s *Store) scan(visit func(live) error) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	if err := s.failure.err(); err != nil {
		return err
	}
	from := cursor{log: s.log, ahead: farRead}
	for at := s.log.start(); ; {
		c, err := s.readLive(&from, at, chunkBytes)
		if err != nil {
			return storeError(s.options.Dir, err)
		}
		if c.to == c.from {
			return s.unreadable
		}
		for _, at := range c.damaged {
			s.damage.note(s.options, at, "")
		}
		for _, r := range c.records {
			source, request, ok := parseKey(r.key)
			if !ok {
				continue // a learned rate
			}
			_, body := splitRecord(r.record)
			outcome, err := parseOutcome(r.record, request.Classification)
			if err != nil {
				s.damage.note(s.options, r.place, r.key)
				continue
			}
			if err := visit(live{source, request, body, outcome}); err != nil {
				return err
			}
		}
		at = c.to
	}
}

// damageTold bounds the warnings about damage.
const damageTold = 10

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
	if len(d.met) > damageTold {
		return
	}
	source, r, _ := parseKey(key)
	o.Log.Warn("a stored answer is damaged and counts as none", "store", o.Dir,
		"source", source, "kind", r.Kind, "classification", r.Classification, "input", r.Input)
	if len(d.met) == damageTold {
		o.Log.Warn("further damaged answers are only counted", "store", o.Dir)
	}
}

func (d *damage) count() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.met))
}
