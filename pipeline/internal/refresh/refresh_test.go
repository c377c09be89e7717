package refresh

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func website(i int) client.Request {
	return client.Request{Kind: client.Website, Classification: client.TaxonomyV3, Input: fmt.Sprintf("https://site%d.example", i)}
}

func outcome(at time.Time) answers.Outcome {
	return answers.Outcome{Answer: client.Answer{
		AnsweredAt: at, Body: []byte(`{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}`),
		Entries: []client.Entry{{Value: "A > B", Confidence: 0.5}},
	}}
}

// newStore makes a store with n answers, each an hour older than the previous one.
func newStore(t *testing.T, n int) *answers.Store {
	t.Helper()
	store, err := answers.Open(answers.Options{Path: filepath.Join(t.TempDir(), "answers.db"), Source: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	batch := store.NewBatch()
	for i := range n {
		batch.Add(website(i), outcome(noon.Add(-time.Duration(i)*time.Hour)))
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	return store
}

// begin begins a refresh of n answers, each of which is offered twice.
func begin(t *testing.T, store *answers.Store, run string, n int, budget int64, now time.Time) *Refresh {
	t.Helper()
	r, err := Begin(store, run, budget, now)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i := range n {
			o, found, err := store.Lookup(website(i))
			if !found || err != nil {
				t.Fatalf("website %d: %v", i, err)
			}
			if err := r.Offer([]answers.Query{{Request: website(i), Found: true, Outcome: o}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Start(store); err != nil {
		t.Fatal(err)
	}
	return r
}

// askSome asks for up to most chosen answers, a batch for each, and gives the numbers of the websites.
func askSome(t *testing.T, store *answers.Store, r *Refresh, n, most int, now time.Time) map[int]bool {
	t.Helper()
	asked := make(map[int]bool)
	for i := 0; i < n && len(asked) < most; i++ {
		o, _, err := store.Lookup(website(i))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Take(website(i), o) {
			continue
		}
		asked[i] = true
		batch := store.NewBatch()
		batch.Add(website(i), outcome(now))
		r.Count(batch, 1)
		if err := batch.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return asked
}

// TestSameChoice kills a refresh after a part of its requests. Both starts together ask for the oldest answers, and the
// next refresh for others.
func TestSameChoice(t *testing.T) {
	const n, budget = 500, 100
	now := noon.Add(time.Hour)
	store := newStore(t, n)
	got := askSome(t, store, begin(t, store, "run", n, budget, now), n, 37, now.Add(time.Minute))
	later := now.Add(24 * time.Hour) // the first start was killed, and another run has been there
	askSome(t, store, begin(t, store, "other", n, 0, later), n, n, later)
	r := begin(t, store, "run", n, budget, later)
	rest := askSome(t, store, r, n, n, later)
	if len(got) != 37 || len(rest) != budget-37 {
		t.Errorf("%d asked before the kill, %d after", len(got), len(rest))
	}
	for i := range n {
		if want := i >= n-budget; got[i] && rest[i] || (got[i] || rest[i]) != want {
			t.Errorf("website %d: asked %v and %v, want %v", i, got[i], rest[i], want)
		}
	}
	if r := begin(t, store, "run", n, budget, later); r.Left() != 0 {
		t.Errorf("%d are left of a budget that is spent", r.Left())
	}
	if err := r.End(store); err != nil {
		t.Fatal(err)
	}
	r = begin(t, store, "run", n, budget, later.Add(time.Hour))
	next := askSome(t, store, r, n, n, later.Add(time.Hour))
	for i := range n {
		if next[i] != (i >= n-2*budget && i < n-budget) {
			t.Errorf("website %d: asked by the next refresh %v", i, next[i])
		}
	}
}

// TestRejectionsStay has a refresh ask for no rejection and for no answer that is not stored.
func TestRejectionsStay(t *testing.T) {
	store := newStore(t, 1)
	r, err := Begin(store, "run", 5, noon)
	if err != nil {
		t.Fatal(err)
	}
	old := outcome(noon.Add(-time.Hour))
	rejected := old
	rejected.Rejection = &client.Error{Class: client.Rejected, Status: 404}
	if err := r.Offer([]answers.Query{{Request: website(1), Found: true, Outcome: rejected}, {Request: website(2), Outcome: old}}); err != nil || r.Left() != 0 {
		t.Errorf("%d chosen, %v", r.Left(), err)
	}
}

func TestDamagedNotes(t *testing.T) {
	store := newStore(t, 10)
	batch := store.NewBatch()
	batch.AddNote(progressNote+"run", []byte(`{"Begun": 7, [`))
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	if r := begin(t, store, "run", 10, 5, noon.Add(time.Hour)); r.Left() != 5 {
		t.Errorf("%d chosen", r.Left())
	}
}
