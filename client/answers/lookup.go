package answers

import (
	"bytes"
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
	l.queries = nil
	lookups.Put(l)
	return nil
}

// lookup is the work of LookupAll and its memory. The keys are sought in their order,
// with one iterator: making one costs as much as ten seeks, and keys that lie together
// share blocks. Seeking by prefix asks the filters first (a key is its own prefix), so
// that what is not there is seldom looked for on disk.
type lookup struct {
	store   *Store
	queries []Query
	keys    []byte // of all queries, one behind the other
	order   []sought
}

// sought is a query's key.
type sought struct {
	key   []byte
	query *Query
}

var lookups = sync.Pool{New: func() any { return new(lookup) }}

func (s *Store) newLookup(queries []Query) *lookup {
	l := lookups.Get().(*lookup)
	l.store, l.queries, l.keys, l.order = s, queries, l.keys[:0], l.order[:0]
	for i := range queries {
		start := len(l.keys)
		l.keys = appendKey(l.keys, s.options.Source, queries[i].Request)
		l.order = append(l.order, sought{l.keys[start:len(l.keys):len(l.keys)], &queries[i]})
	}
	slices.SortFunc(l.order, func(a, b sought) int { return bytes.Compare(a.key, b.key) })
	return l
}

func (l *lookup) run() error {
	it, err := l.store.db.NewIter(&pebble.IterOptions{KeyTypes: pebble.IterKeyTypePointsOnly, UseL6Filters: true})
	if err != nil {
		return err
	}
	defer it.Close() // gives the error of the seek once more
	n, err := l.walk(it)
	if err != nil {
		return err
	}
	for _, w := range l.order[n:] {
		if it.SeekPrefixGE(w.key) {
			err = l.take(it, w)
		} else {
			err = it.Error()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxSteps is how many keys walk steps over to reach the next that is sought: beyond, a
// seek is cheaper.
const maxSteps = 4

// walk answers the first n queries from neighbours in the store, stepping from one to the
// next. A run over an input that was asked in its order finds all of a batch like this,
// in half the time that seeks take.
func (l *lookup) walk(it *pebble.Iterator) (n int, err error) {
	found := it.SeekGE(l.order[0].key)
	for _, w := range l.order {
		steps := 0
		for found && steps < maxSteps && bytes.Compare(it.Key(), w.key) < 0 {
			found = it.Next()
			steps++
		}
		if !found || !bytes.Equal(it.Key(), w.key) {
			return n, it.Error()
		}
		if err := l.take(it, w); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// take answers the query whose key the iterator is at.
func (l *lookup) take(it *pebble.Iterator, w sought) error {
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	l.store.answer(w, value)
	return nil
}

// answer fills in the query whose key has the value.
func (s *Store) answer(w sought, value []byte) {
	outcome, err := parseValue(w.key, value, w.query.Request.Classification)
	if err != nil {
		s.damage.note(s.options, w.key)
		return
	}
	if s.counts(outcome) {
		w.query.Outcome, w.query.Found = outcome, true
	}
}

func (s *Store) counts(o Outcome) bool {
	if o.Rejection != nil && s.options.RetryRejected {
		return false
	}
	return s.options.MaxAge <= 0 || time.Since(o.Answer.AnsweredAt) <= s.options.MaxAge
}
