package answers

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// Query asks for the stored outcome of a request.
type Query struct {
	Request client.Request

	Found   bool    // there is an outcome that still counts
	Outcome Outcome // set where Found
	Stored  bool    // there is an outcome, whether it counts or is damaged or not; for Batch.Add

	source     string    // whose outcome it is; "" for the store's own
	answeredAt time.Time // of an outcome, whether it counts or not; zero for a damaged one
}

// Lookup gives the stored outcome of a request, and whether there is one that still
// counts. Several requests at once cost much less: see LookupAll.
func (s *Store) Lookup(r client.Request) (Outcome, bool, error) {
	queries := []Query{{Request: r}}
	if err := s.LookupAll(queries); err != nil {
		return Outcome{}, false, err
	}
	return queries[0].Outcome, queries[0].Found, nil
}

// LookupAll answers the queries. A damaged value counts as none: it is told of, asked
// again and written over. After an error the queries must not be used any more.
func (s *Store) LookupAll(queries []Query) error {
	if len(queries) == 0 {
		return nil
	}
	l := s.newLookup(queries)
	if _, err := guard(s.fate, func() (struct{}, error) { return struct{}{}, l.run() }); err != nil {
		return storeError(s.options.Dir, "", err) // a lookup that was given up may still use l
	}
	clear(l.order) // keep no query alive
	clear(l.taken)
	l.queries = nil
	lookups.Put(l)
	if s.unreadable != nil && slices.ContainsFunc(queries, func(q Query) bool { return !q.Found && !q.Stored }) {
		return s.unreadable
	}
	return nil
}

// lookup is the work of LookupAll and its memory.
//
// What was read ahead is there already, and so is what is recent. To most of the others
// hints may lead. The keys of the rest are sought in their order, and then the answers in
// theirs, since what lies together shares blocks.
type lookup struct {
	store     *Store
	queries   []Query
	keys      []byte // of all queries, one behind the other
	order     []sought
	taken     []*chunk   // that some answers are in
	positions []position // of what was found in segments
	cursor    cursor
	pack      pack // the last one that was read
}

// sought is a query's key, and what has been found of it so far.
type sought struct {
	key   []byte
	hash  uint64 // of the key
	query *Query
	arrived
	hinted bool // the position is, and may be wrong
}

var lookups = sync.Pool{New: func() any { return new(lookup) }}

func (s *Store) newLookup(queries []Query) *lookup {
	l := lookups.Get().(*lookup)
	l.store, l.queries, l.keys, l.order, l.positions = s, queries, l.keys[:0], l.order[:0], l.positions[:0]
	l.cursor = cursor{segments: &s.segments, memory: l.cursor.memory, ahead: nearRead}
	for i := range queries {
		start := len(l.keys)
		queries[i].source = cmp.Or(queries[i].source, s.options.Source)
		l.keys = appendKey(l.keys, queries[i].source, queries[i].Request)
		key := l.keys[start:len(l.keys):len(l.keys)]
		l.order = append(l.order, sought{key: key, hash: hashKey(key), query: &queries[i]})
	}
	return l
}

func (l *lookup) run() error {
	l.taken = l.store.ahead.take(l.order, l.taken[:0])
	missing := l.order[:0]
	for _, w := range l.order {
		if w.value == nil {
			missing = append(missing, w)
			continue
		}
		l.found(w, w.value)
	}
	l.store.ahead.release(l.taken)
	ready := len(l.positions)
	if err := l.seekAll(l.store.keys.strike(missing)); err != nil {
		return err
	}
	sought := len(l.positions) - ready
	if len(l.positions) > 0 {
		slices.Sort(l.positions)
		l.store.ahead.follow(l.store, l.positions, sought)
	}
	return nil
}

// seekAll answers queries from what is recent, or from where hints and keys lead.
func (l *lookup) seekAll(missing []sought) error {
	missing = l.takeRecent(missing)
	hinted := l.store.hints.find(missing)
	misled, err := l.seekAnswers(missing[:hinted])
	if err != nil {
		return err
	}
	missing = append(misled, missing[hinted:]...)
	for len(missing) > 0 {
		if err := l.seekKeys(missing); err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(w sought) bool { return w.position == 0 })
		if missing, err = l.seekAnswers(missing); err != nil {
			return err
		}
		missing = l.takeRecent(missing) // what was replaced on the way
	}
	return nil
}

// takeRecent answers queries from what is recent, and gives the others.
func (l *lookup) takeRecent(missing []sought) []sought {
	n := l.store.recent.take(missing)
	for _, w := range missing[:n] {
		l.found(w, w.value)
	}
	return missing[n:]
}

// seekKeys finds the positions of keys. Seeking by prefix asks the filters first (a key
// is its own prefix), so that what is not there is seldom looked for on disk. It is done with
// one iterator: making one costs as much as ten seeks.
func (l *lookup) seekKeys(missing []sought) error {
	it, err := l.store.db.NewIter(&pebble.IterOptions{KeyTypes: pebble.IterKeyTypePointsOnly, UseL6Filters: true})
	if err != nil {
		return err
	}
	defer it.Close() // gives the error of the seek once more
	slices.SortFunc(missing, func(a, b sought) int { return bytes.Compare(a.key, b.key) })
	n, err := l.walkKeys(it, missing)
	if err != nil {
		return err
	}
	for i := range missing[n:] {
		w := &missing[n+i]
		if it.SeekPrefixGE(w.key) {
			err = l.place(it, w)
		} else {
			w.position, err = 0, it.Error()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxSteps is how many keys a walk steps over to reach the next that is sought: beyond, a
// seek is cheaper.
const maxSteps = 4

// walkKeys finds the first n of the keys from neighbours in the store, stepping from one
// to the next. Where the keys lie together that is all, in half the time that seeks take.
func (l *lookup) walkKeys(it *pebble.Iterator, missing []sought) (n int, err error) {
	at := it.SeekGE(missing[0].key)
	for i := range missing {
		w := &missing[i]
		for steps := 0; at && steps < maxSteps && bytes.Compare(it.Key(), w.key) < 0; steps++ {
			at = it.Next()
		}
		if !at || !bytes.Equal(it.Key(), w.key) {
			return n, it.Error()
		}
		if err := l.place(it, w); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// place takes the position from the key that the iterator is at. One that led nowhere and
// has not changed is damaged.
func (l *lookup) place(it *pebble.Iterator, w *sought) error {
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	was := w.position
	if w.position = parsePosition(value); w.position == was {
		w.position = 0
		l.found(*w, nil)
		return nil
	}
	l.store.hints.foundByKey(w.hash, w.position)
	return nil
}

// seekAnswers answers queries whose positions are known. It gives back those that were
// misled: a hint was wrong, or the answer was replaced since its key was looked at.
func (l *lookup) seekAnswers(placed []sought) (misled []sought, err error) {
	slices.SortFunc(placed, func(a, b sought) int { return cmp.Compare(a.position, b.position) })
	l.pack.reset()
	misled = placed[:0]
	for _, w := range placed {
		if l.pack.at != w.position {
			if err := l.cursor.read(w.position, &l.pack); err != nil && !errors.Is(err, errDamaged) {
				return nil, err
			}
		}
		if i := l.pack.find(w.key); i >= 0 {
			l.found(w, l.pack.values[i])
			continue
		}
		if w.hinted {
			w.position, w.hinted = 0, false
		}
		misled = append(misled, w)
	}
	return misled, nil
}

// found answers a query whose answer is there; nothing is a damaged one.
func (l *lookup) found(w sought, value []byte) {
	w.query.Stored = true
	if w.position != 0 {
		l.positions = append(l.positions, w.position)
	}
	outcome, err := parseValue(w.key, value, w.query.Request.Classification)
	if err != nil {
		l.store.damage.note(l.store.options, w.key, w.query.source, w.query.Request)
		return
	}
	w.query.answeredAt = outcome.Answer.AnsweredAt
	if l.store.counts(outcome) {
		w.query.Outcome, w.query.Found = outcome, true
	}
}

// counts says whether an outcome is to be had. What has come since the store was opened
// always is: an input that comes twice in a run is asked once.
func (s *Store) counts(o Outcome) bool {
	if o.Rejection != nil && s.options.RetryRejected && o.Answer.AnsweredAt.Before(s.opened) {
		return false
	}
	return s.options.MaxAge <= 0 || !o.Answer.AnsweredAt.Before(s.opened.Add(-s.options.MaxAge))
}
