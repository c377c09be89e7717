package refresh

import (
	"bytes"
	"container/heap"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// progressNote is the name of the note of a progress, before the run.
const progressNote = "refresh progress"

// progress is how far a refresh is. A refresh that has ended has a Begun of zero.
type progress struct {
	Begun time.Time
	Asked int64 // answers asked again
}

// Refresh is one refresh of the answers of a run, through all starts of the run. After the answers have
// been offered, several goroutines may use a Refresh.
type Refresh struct {
	run    string
	budget int64 // what is left of it for this start
	oldest oldest

	mu       sync.Mutex
	chosen   map[id]bool // true until it is taken
	progress progress
}

// Begin begins the refresh of a run, or goes on with the refresh that the run has begun and not ended.
// Budget is the number of answers to ask again over all starts of the run.
func Begin(store *answers.Store, run string, budget int64, now time.Time) (*Refresh, error) {
	text, err := store.Note(progressNote + run)
	if err != nil {
		return nil, err
	}
	r := &Refresh{run: run, chosen: make(map[id]bool)}
	if json.Unmarshal(text, &r.progress) != nil || r.progress.Begun.IsZero() { // none, or a damaged one
		r.progress = progress{Begun: now.UTC().Truncate(time.Microsecond)} // as answers have their time
	}
	r.budget = max(0, budget-r.progress.Asked)
	return r, nil
}

// Offer offers the stored answers to requests of the run. The same answer may be offered several times.
func (r *Refresh) Offer(requests []answers.Query) error {
	for _, q := range requests {
		at := q.Outcome.AskedAt()
		if !q.Found || q.Outcome.Rejection != nil || !at.Before(r.progress.Begun) || r.budget == 0 {
			continue
		}
		this := candidate{at, idOf(q.Request)}
		full := int64(len(r.oldest)) == r.budget
		if r.chosen[this.id] || full && !this.before(r.oldest[0]) {
			continue
		}
		r.chosen[this.id] = true
		if !full {
			heap.Push(&r.oldest, this)
			continue
		}
		delete(r.chosen, r.oldest[0].id)
		r.oldest[0] = this
		heap.Fix(&r.oldest, 0)
	}
	return nil
}

// Left is the number of answers that were chosen and not taken; 0 for nil.
func (r *Refresh) Left() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.chosen))
}

// Start notes in the store that the refresh has begun. It precedes the first request.
func (r *Refresh) Start(store *answers.Store) error {
	batch := store.NewBatch()
	r.save(batch)
	return batch.Commit()
}

// Take reports whether a stored answer is to be asked again, once for each answer.
func (r *Refresh) Take(request client.Request, stored answers.Outcome) bool {
	if r == nil || !stored.AskedAt().Before(r.progress.Begun) {
		return false
	}
	of := idOf(request)
	r.mu.Lock()
	defer r.mu.Unlock()
	chosen := r.chosen[of]
	delete(r.chosen, of)
	return chosen
}

// Count counts answers that were asked again in the batch that stores them.
func (r *Refresh) Count(batch *answers.Batch, asked int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Asked += asked
	r.save(batch)
}

func (r *Refresh) save(batch *answers.Batch) {
	text, err := json.Marshal(r.progress)
	if err == nil { // a time and a number
		batch.AddNote(progressNote+r.run, text)
	}
}

// End ends the refresh, once the run is complete.
func (r *Refresh) End(store *answers.Store) error {
	r.progress = progress{}
	return r.Start(store)
}

// Same reports whether two answers have the same categories, and whether they have the same rows.
func Same(a, b client.Answer) (categories, rows bool) {
	sameCategory := func(a, b client.Entry) bool { return a.Value == b.Value }
	sameRow := func(a, b client.Entry) bool {
		return a.Value == b.Value && a.Title == b.Title && (a.Confidence == b.Confidence || a.Confidence != a.Confidence && b.Confidence != b.Confidence)
	}
	return slices.EqualFunc(a.Entries, b.Entries, sameCategory), slices.EqualFunc(a.Entries, b.Entries, sameRow)
}

// id is a hash of a request.
type id [16]byte

func idOf(r client.Request) (of id) {
	sum := sha256.Sum256([]byte(r.Classification + "\x00" + r.Input))
	copy(of[:], sum[:])
	return of
}

// candidate is an answer that may be asked again.
type candidate struct {
	at time.Time // when the service gave it last
	id id
}

// before reports whether c is asked again before d.
func (c candidate) before(d candidate) bool {
	return c.at.Before(d.at) || c.at.Equal(d.at) && bytes.Compare(c.id[:], d.id[:]) < 0
}

// oldest is a heap with the newest candidate first.
type oldest []candidate

func (o oldest) Len() int           { return len(o) }
func (o oldest) Less(i, j int) bool { return o[j].before(o[i]) }
func (o oldest) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *oldest) Push(c any)        { *o = append(*o, c.(candidate)) }
func (o *oldest) Pop() any          { panic("never called: the heap does not shrink") }
