package answers

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Query asks for the stored outcome of a request.
type Query struct {
	Request client.Request
	Source  string // "" for the store's own
	Body    bool   // set Outcome.Answer.Body

	Found   bool      // there is an outcome that still counts
	Outcome Outcome   // set where Found
	Stored  bool      // there is an outcome, also if it does not count or is damaged
	AskedAt time.Time // of an outcome, also if it does not count; zero for a damaged outcome
}

// Lookup returns the stored outcome of a request, and whether there is an outcome that still
// counts. Several requests at once cost much less: see LookupAll.
func (s *Store) Lookup(r client.Request) (Outcome, bool, error) {
	queries := []Query{{Request: r}}
	if err := s.LookupAll(queries); err != nil {
		return Outcome{}, false, err
	}
	return queries[0].Outcome, queries[0].Found, nil
}

// LookupAll answers the queries. A damaged answer is ignored: a warning is logged, and the
// answer can be asked for again.
func (s *Store) LookupAll(queries []Query) error {
	if err := s.failure.err(); err != nil {
		return err
	}
	keys, wanted := make([]byte, 0, 96*len(queries)), make([]recordRef, len(queries))
	for i := range queries {
		q, start := &queries[i], len(keys)
		keys = appendKey(keys, cmp.Or(q.Source, s.options.Source), q.Request)
		wanted[i] = recordRef{key: keys[start:len(keys):len(keys)], query: q}
	}
	places := make([]place, 0, len(queries))
	answer := func(w recordRef) {
		places = append(places, w.place)
		s.answer(w)
	}
	n := s.ahead.take(wanted)
	for _, w := range wanted[:n] {
		answer(w)
	}
	if err := s.seek(wanted[n:], answer); err != nil {
		return s.failure.set(err)
	}
	s.ahead.follow(s, places)
	if s.unreadable != nil && slices.ContainsFunc(queries, func(q Query) bool { return !q.Found && !q.Stored }) {
		return s.unreadable
	}
	return nil
}

// recordRef is a record that a lookup or a commit searches for by its key. The place and the content are set when they
// are known.
type recordRef struct {
	key    []byte
	query  *Query // nil for other records
	place  place  // of the pack; 0 for unknown
	tried  place  // where the record was not found
	record []byte // nil for unknown or damaged
}

// seek finds the newest records of keys through the index, and passes each key with its record to found. If a record is
// damaged and there may be an older one, the index is made anew: it then leads to the newest record that is sound.
func (s *Store) seek(missing []recordRef, found func(recordRef)) error {
	for older := s.replaced.Load() > 0; len(missing) > 0; {
		err := s.find(missing)
		if err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(w recordRef) bool { return w.place == 0 })
		lost, err := s.log.fetch(missing, found)
		if err != nil {
			return err
		}
		missing = missing[:0]
		doubted := false
		for _, w := range lost {
			moved := w.tried != w.place // by compaction, perhaps
			if !moved && !older {
				found(w)
				continue
			}
			if !moved {
				s.markIfDamaged(w)
				doubted = true
			}
			w.tried = w.place
			missing = append(missing, w)
		}
		older = older && !doubted
	}
	return nil
}

// errDamagedPlace says that the index is to be made anew from the sound records of the log.
var errDamagedPlace = errors.New("the index leads to a damaged answer")

// fetch reads the packs at the places of keys, in the order of the log, and passes each key with its record to found.
// It returns the keys whose record is not there.
func (l *log) fetch(wanted []recordRef, found func(recordRef)) (lost []recordRef, err error) {
	var p pack
	memory := make([]byte, nearRead)
	slices.SortFunc(wanted, func(a, b recordRef) int { return cmp.Compare(a.place, b.place) })
	lost = wanted[:0]
	for _, w := range wanted {
		if p.at != w.place {
			encoded, _, err := l.packAt(w.place, nil, memory)
			if err != nil {
				return nil, err
			}
			p.parse(w.place, encoded)
		}
		i := slices.IndexFunc(p.records, func(record []byte) bool { return hasKey(record, w.key) })
		if i < 0 {
			lost = append(lost, w)
			continue
		}
		w.record = p.records[i]
		found(w)
	}
	return lost, nil
}

// answer answers a query.
func (s *Store) answer(w recordRef) {
	w.query.Stored = true
	outcome, err := parseOutcome(w.record, w.query.Request.Classification)
	if err != nil {
		s.damage.note(s.options, w.place, string(w.key))
		return
	}
	w.query.AskedAt = outcome.AskedAt()
	if w.query.Body && outcome.Rejection == nil {
		outcome.Answer.Body = slices.Clone(bodyOf(w.record))
	}
	if s.counts(outcome) {
		w.query.Outcome, w.query.Found = outcome, true
	}
}

// counts reports whether an outcome counts. An outcome that has come since the store was opened
// always does: a run asks once for an input that comes twice.
func (s *Store) counts(o Outcome) bool {
	if o.Rejection != nil && s.options.RetryRejected && o.Answer.AnsweredAt.Before(s.opened) {
		return false
	}
	return s.options.MaxAge <= 0 || !o.AskedAt().Before(s.opened.Add(-s.options.MaxAge))
}
