package answers

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// Query asks for the stored outcome of a request.
type Query struct {
	Request client.Request

	Found    bool     // there is an outcome that still counts
	Outcome  Outcome  // set where Found
	Position Position // of an outcome, whether it counts or is damaged or not; for Batch.Add

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
	if s.unreadable != nil && slices.ContainsFunc(queries, func(q Query) bool { return !q.Found && q.Position == 0 }) {
		return s.unreadable
	}
	return nil
}

// lookup is the work of LookupAll and its memory.
//
// What was read ahead is there already. The keys of the others are sought in their order,
// and then the answers in theirs, since what lies together shares blocks. It is done with
// one iterator: making one costs as much as ten seeks, and it sees the database as it was at
// one moment.
type lookup struct {
	store     *Store
	queries   []Query
	keys      []byte // of all queries, one behind the other
	order     []sought
	taken     []*chunk   // that some answers are in
	positions []Position // of what was found
	bound     []byte     // of the answers' keys
	pack      pack       // of the last answer that was sought
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

// seekAll answers queries from the database.
func (l *lookup) seekAll(missing []sought) error {
	if len(missing) == 0 {
		return nil
	}
	it, placed, err := l.look(missing)
	if err != nil {
		return err
	}
	defer it.Close() // gives the error of the seek once more
	placed += l.store.hints.find(missing[placed:])
	misled, err := l.seek(it, missing, placed)
	if err != nil {
		return err
	}
	_, err = l.seek(it, misled, 0)
	return err
}

// seek answers queries, of which the first have their positions, but for those that were
// misled by a hint: it gives these back.
func (l *lookup) seek(it *pebble.Iterator, missing []sought, placed int) (misled []sought, err error) {
	if unplaced := missing[placed:]; len(unplaced) > 0 {
		slices.SortFunc(unplaced, func(a, b sought) int { return bytes.Compare(a.key, b.key) })
		if err := l.seekKeys(it, unplaced); err != nil {
			return nil, err
		}
	}
	missing = slices.DeleteFunc(missing, func(w sought) bool { return w.position == 0 })
	slices.SortFunc(missing, func(a, b sought) int { return cmp.Compare(b.position, a.position) })
	return l.seekAnswers(it, missing)
}

// look finds the positions of what came last, as recent's find does, and makes an iterator
// for all else.
func (l *lookup) look(missing []sought) (it *pebble.Iterator, recent int, err error) {
	r := &l.store.recent
	r.mu.RLock()
	defer r.mu.RUnlock()
	recent = r.find(missing)
	it, err = l.store.db.NewIter(&pebble.IterOptions{KeyTypes: pebble.IterKeyTypePointsOnly, UseL6Filters: true})
	return it, recent, err
}

// seekKeys finds the positions of keys. Seeking by prefix asks the filters first (a key
// is its own prefix), so that what is not there is seldom looked for on disk.
func (l *lookup) seekKeys(it *pebble.Iterator, missing []sought) error {
	n, err := l.walkKeys(it, missing)
	if err != nil {
		return err
	}
	for i := range missing[n:] {
		w := &missing[n+i]
		if it.SeekPrefixGE(w.key) {
			err = l.place(it, w)
		} else {
			err = it.Error()
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

// place takes the position from the key that the iterator is at.
func (l *lookup) place(it *pebble.Iterator, w *sought) error {
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	if w.position = parsePosition(value); w.position == 0 {
		outcome, err := parseInline(w.key, value, w.query.Request.Classification)
		l.answer(*w, outcome, err)
		return nil
	}
	l.store.hints.foundByKey(w.hash, w.position)
	return nil
}

// seekAnswers answers queries whose positions are known, the last one first: on the way
// forward the database would try the next packs before it seeks, and read blocks for nothing.
// It gives back those that were misled by a hint, without a position.
func (l *lookup) seekAnswers(it *pebble.Iterator, placed []sought) (misled []sought, err error) {
	l.pack.reset()
	misled = placed[:0]
	for _, w := range placed {
		if !l.pack.holds(w.position) {
			if err := l.seekPack(it, w.position); err != nil {
				return nil, err
			}
		}
		value := l.pack.value(w.position) // none is a damaged one
		if w.hinted && !isOf(w.key, value) {
			w.position, w.hinted = 0, false
			misled = append(misled, w)
			continue
		}
		l.found(w, value)
	}
	return misled, nil
}

// seekPack reads the pack that a position is in, if there is one.
func (l *lookup) seekPack(it *pebble.Iterator, at Position) error {
	l.pack.reset()
	l.bound = appendPositionKey(l.bound[:0], at)
	if !it.SeekGE(l.bound) {
		return it.Error()
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	_ = l.pack.parse(parsePositionKey(it.Key()), value) // a damaged one has no answers
	return nil
}

// found answers the query whose answer lies at a position.
func (l *lookup) found(w sought, value []byte) {
	l.positions = append(l.positions, w.position)
	outcome, err := parseValue(w.key, value, w.query.Request.Classification)
	if err == nil || !isOfAnother(w.key, value) {
		w.query.Position = w.position
	}
	l.answer(w, outcome, err)
}

// answer fills in a query for which there is a value.
func (l *lookup) answer(w sought, outcome Outcome, damaged error) {
	if damaged != nil {
		key := w.key
		if w.position != 0 {
			key = appendPositionKey(nil, w.position)
		}
		l.store.damage.note(l.store.options, key, w.query.source, w.query.Request)
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
