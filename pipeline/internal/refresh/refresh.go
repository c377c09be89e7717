package refresh

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/internal/spill"
)

// progressNote is the prefix of the name of the note; the run follows.
const progressNote = "refresh progress"

// progress is the progress of a refresh. It is the zero value after the refresh has ended.
type progress struct {
	Begun time.Time
	Asked int64 // answers that were asked again
}

// Refresh is the refresh of the answers of a run, across its starts. The caller first offers all answers. Afterwards a Refresh
// is safe for concurrent use.
type Refresh struct {
	run    string
	budget int64 // answers left to ask again
	oldest oldest

	mu       sync.Mutex
	chosen   map[spill.ID]bool // not taken yet
	progress progress
}

// Begin begins the refresh of a run, or resumes a refresh that has not ended. budget is the number of answers to ask again, over
// all starts of the run.
func Begin(store *answers.Store, run string, budget int64, now time.Time) (*Refresh, error) {
	text, err := store.Note(progressNote + run)
	if err != nil {
		return nil, err
	}
	r := &Refresh{run: run, chosen: make(map[spill.ID]bool)}
	if json.Unmarshal(text, &r.progress) != nil || r.progress.Begun.IsZero() { // the note is missing or damaged
		r.progress = progress{Begun: now.UTC().Truncate(time.Microsecond)} // the resolution of the times of answers
	}
	r.budget = max(0, budget-r.progress.Asked)
	return r, nil
}

// Offer adds requests of the run, with their stored answers. A request may be offered several times.
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

// Left returns the number of chosen answers that were not taken yet; 0 for nil.
func (r *Refresh) Left() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.chosen))
}

// Start writes to the store that the refresh has begun. Call it before the first request.
func (r *Refresh) Start(store *answers.Store) error {
	batch := store.NewBatch()
	r.save(batch)
	return batch.Commit()
}

// Take reports whether the caller must ask again for a stored answer. It is true at most once for each answer.
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

// Count adds to the count of answers that were asked again, in the batch that stores them.
func (r *Refresh) Count(batch *answers.Batch, asked int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Asked += asked
	r.save(batch)
}

func (r *Refresh) save(batch *answers.Batch) {
	text, err := json.Marshal(r.progress)
	if err == nil { // never fails for a time and a number
		batch.AddNote(progressNote+r.run, text)
	}
}

// End ends the refresh. Call it when the run is complete.
func (r *Refresh) End(store *answers.Store) error {
	r.progress = progress{}
	return r.Start(store)
}

// Same reports whether two answers have the same categories in the same order, and whether they give the same rows.
func Same(a, b client.Answer) (categories, rows bool) {
	sameCategory := func(a, b client.Entry) bool { return a.Value == b.Value }
	sameRow := func(a, b client.Entry) bool {
		return a.Value == b.Value && a.Title == b.Title && (a.Confidence == b.Confidence || a.Confidence != a.Confidence && b.Confidence != b.Confidence)
	}
	return slices.EqualFunc(a.Entries, b.Entries, sameCategory), slices.EqualFunc(a.Entries, b.Entries, sameRow)
}

func idOf(r client.Request) spill.ID { return spill.IDOf(r.Classification, r.Input) }

// candidate is an answer that may be asked again.
type candidate struct {
	at time.Time // when the service last gave or confirmed the answer
	id spill.ID
}

// before reports whether c is asked again before d.
func (c candidate) before(d candidate) bool {
	return c.at.Before(d.at) || c.at.Equal(d.at) && bytes.Compare(c.id[:], d.id[:]) < 0
}

// oldest is a heap of the oldest candidates. Its root is the newest of them.
type oldest []candidate

func (o oldest) Len() int           { return len(o) }
func (o oldest) Less(i, j int) bool { return o[j].before(o[i]) }
func (o oldest) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *oldest) Push(c any)        { *o = append(*o, c.(candidate)) }
func (o *oldest) Pop() any          { panic("never called: the heap does not shrink") }
