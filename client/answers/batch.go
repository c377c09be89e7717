package answers

import (
	"context"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Batch gathers outcomes that become durable together.
type Batch struct {
	store   *Store
	records []byte // each with its length before it
	ends    []int  // of the records
	record  []byte
	packs   []byte
	refs    []recordRef // a key for each record of the batch; commit sets the places
}

// NewBatch starts an empty batch. A batch is for one goroutine, and may be used again after
// Commit.
func (s *Store) NewBatch() *Batch { return &Batch{store: s} }

// Add puts an outcome into the batch, in place of an outcome of the same request that is stored.
// The batch must not have another outcome of the request.
func (b *Batch) Add(r client.Request, o Outcome) { b.AddOf(b.store.options.Source, r, o) }

// AddOf is Add for an outcome of another source.
func (b *Batch) AddOf(source string, r client.Request, o Outcome) {
	key := appendKey(nil, source, r)
	b.record = appendOutcome(b.record[:0], key, o)
	b.add(key, b.record)
}

// AddNote puts a note into the batch, in place of the note of the same name. The batch must not have
// another note of that name.
func (b *Batch) AddNote(name string, body []byte) {
	key := noteKey(b.store.options.Source, name)
	b.add(key, appendRecord(nil, kindNote, 0, time.Now(), key, body))
}

func (b *Batch) add(key, record []byte) {
	b.records = appendSized(b.records, record)
	b.ends = append(b.ends, len(b.records))
	b.refs = append(b.refs, recordRef{key: key})
}

// Commit makes all that was added durable with one fdatasync, and empties the batch. After an error, a part of it or
// all of it may be stored.
func (b *Batch) Commit() error {
	if len(b.ends) == 0 {
		return b.store.failure.err()
	}
	s := b.store
	s.writes.Lock()
	defer s.writes.Unlock()
	files := len(s.log.files)
	err := b.commit()
	if err != nil {
		*b = Batch{store: s} // the database may still read the memory
		return err
	}
	if len(s.log.files) > files && s.index.state.Replaced*2 > s.index.state.Records {
		return s.withSoundIndex(func() error { return s.compactFirst(context.Background()) })
	}
	return nil
}

// commit is Commit for the goroutine that holds Store.writes.
func (b *Batch) commit() error {
	s := b.store
	if err := s.failure.err(); err != nil || len(b.ends) == 0 {
		return err
	}
	if last := s.log.last(); last.end >= logBytes {
		if err := s.log.add(last.number + 1); err != nil {
			return s.failure.set(err)
		}
	}
	b.pack(s.log.end())
	if err := s.log.append(b.packs); err != nil {
		return s.failure.set(err)
	}
	if err := s.withSoundIndex(func() error { return s.enter(b.refs, s.log.end()) }); err != nil {
		return s.failure.set(err)
	}
	s.replaced.Store(s.index.state.Replaced)
	s.ahead.forget(b.refs)
	b.records, b.ends, b.refs = b.records[:0], b.ends[:0], b.refs[:0]
	return nil
}

// pack makes packs of the records as they lie from a place on, and notes the place of each record.
func (b *Batch) pack(at place) {
	b.packs = b.packs[:0]
	first, from := 0, 0
	for i, end := range b.ends {
		pack := at + place(len(b.packs))
		b.refs[i].place = pack
		if n := i + 1; n == len(b.ends) || n-first == packRecords || end-from >= packBytes {
			b.packs = appendPack(b.packs, pack, b.records[from:end], n-first)
			first, from = n, end
		}
	}
}
