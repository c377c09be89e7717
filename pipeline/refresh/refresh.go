package refresh

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

const (
	// randomShare is the number of answers of the budget of which one is chosen at random.
	randomShare = 10

	// interimEvery is the time between two notes of the counts: a note is up to 200 kB.
	interimEvery = 2 * time.Minute

	historyNote  = "refresh"          // a History
	progressNote = "refresh progress" // a progress, with the run after the name
	interimNote  = "refresh tally"    // an interim, with the run after the name
)

// progress is how far a refresh is. A refresh that has ended has a Begun of zero.
type progress struct {
	Begun  time.Time
	Random int64 // answers asked again
	Scored int64
}

// interim is what a refresh that has not ended has found.
type interim struct {
	Begun time.Time
	Found History
}

// Refresh is one refresh of the answers of a run, through all starts of the run. After the answers have
// been offered, several goroutines may use a Refresh.
type Refresh struct {
	run     string
	chooser *chooser
	history History // of earlier refreshes

	mu       sync.Mutex
	chosen   map[id]*Choice
	progress progress
	found    History
	saved    time.Time // when found was noted
}

// Begin begins the refresh of a run, or goes on with the refresh that the run has begun and not ended.
// Budget is the number of answers to ask again over all starts of the run.
func Begin(store *answers.Store, run string, budget int64, now time.Time) (*Refresh, error) {
	r := &Refresh{run: run, saved: now}
	var last interim
	for name, value := range map[string]any{historyNote: &r.history, progressNote + run: &r.progress, interimNote + run: &last} {
		text, err := store.Note(name)
		if err != nil {
			return nil, err
		}
		decode(text, value)
	}
	if r.progress.Begun.IsZero() {
		r.progress = progress{Begun: now.UTC().Truncate(time.Microsecond)} // as answers have their time
	}
	r.found = make(History)
	if last.Begun.Equal(r.progress.Begun) && last.Found != nil {
		r.found = last.Found
	}
	random := (budget + randomShare/2) / randomShare
	seed := run + r.progress.Begun.Format(time.RFC3339Nano)
	r.chooser = newChooser(r.history.fit(), r.progress.Begun, seed, max(0, random-r.progress.Random), max(0, budget-random-r.progress.Scored))
	return r, nil
}

// decode decodes a note. A note that is missing or damaged leaves the value as it is: notes only help to
// choose.
func decode(note []byte, value any) {
	if len(note) > 0 {
		_ = json.Unmarshal(note, value)
	}
}

// historyOf is what refreshes of the answers of a source have found.
func historyOf(store *answers.Store, source string) (h History, err error) {
	text, err := store.NoteOf(source, historyNote)
	decode(text, &h)
	return h, err
}

// Offer offers the stored answers to requests of the run. The same answer may be offered several times.
func (r *Refresh) Offer(requests []answers.Query) error {
	for _, q := range requests {
		if q.Found {
			r.chooser.offer(q.Request, q.Outcome)
		}
	}
	return nil
}

// Choose ends the offers, and returns the number of answers to be asked again.
func (r *Refresh) Choose() int64 {
	r.chosen = r.chooser.choices()
	return r.Left()
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
	r.Save(batch, r.saved)
	return batch.Commit()
}

// Take reports whether a stored answer is to be asked again, once for each answer.
func (r *Refresh) Take(request client.Request, stored answers.Outcome) (*Choice, bool) {
	if !stored.AskedAt().Before(r.progress.Begun) {
		return nil, false
	}
	of := r.chooser.idOf(request)
	r.mu.Lock()
	defer r.mu.Unlock()
	choice, ok := r.chosen[of]
	delete(r.chosen, of)
	return choice, ok
}

// Count counts an answer that was asked again. Its counts are noted with Save.
func (r *Refresh) Count(c *Choice, changed bool) {
	t := StratumCounts{Asked: 1, Days: c.Days}
	if changed {
		t.Changed = 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Random {
		t.Random, t.RandomChanged = 1, t.Changed
		r.progress.Random++
	} else {
		r.progress.Scored++
	}
	r.found.add(c.Stratum, t, 1)
}

// Save adds to the batch how far the refresh is, and from time to time what it has found. The notes are then durable
// together with the answers that they count.
func (r *Refresh) Save(batch *answers.Batch, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	note(batch, progressNote+r.run, r.progress)
	if now.Sub(r.saved) >= interimEvery {
		note(batch, interimNote+r.run, interim{r.progress.Begun, r.found})
		r.saved = now
	}
}

// End ends a start of the run: once the run is complete, the history has what the refresh has found.
func (r *Refresh) End(store *answers.Store, complete bool) error {
	batch := store.NewBatch()
	if !complete {
		r.Save(batch, r.saved.Add(interimEvery))
		return batch.Commit()
	}
	note(batch, progressNote+r.run, progress{})
	note(batch, interimNote+r.run, interim{})
	if len(r.found) > 0 {
		note(batch, historyNote, r.history.merged(r.found))
	}
	return batch.Commit()
}

func note(batch *answers.Batch, name string, value any) {
	text, err := json.Marshal(value)
	if err == nil { // strings and finite numbers
		batch.AddNote(name, text)
	}
}

// Same reports whether two answers have the same categories, and whether they have the same rows.
func Same(a, b client.Answer) (categories, rows bool) {
	sameCategory := func(a, b client.Entry) bool { return a.Value == b.Value }
	sameRow := func(a, b client.Entry) bool {
		return a.Value == b.Value && a.Title == b.Title && (a.Confidence == b.Confidence || a.Confidence != a.Confidence && b.Confidence != b.Confidence)
	}
	return slices.EqualFunc(a.Entries, b.Entries, sameCategory), slices.EqualFunc(a.Entries, b.Entries, sameRow)
}
