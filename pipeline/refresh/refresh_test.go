package refresh

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

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

// newStore makes a store with n answers, each an hour older than the one before.
func newStore(t *testing.T, n int) *answers.Store {
	t.Helper()
	store, err := answers.Open(answers.Options{Dir: "store", Source: "s", FS: vfs.NewMem()})
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
	r.Choose()
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
		c, ok := r.Take(website(i), o)
		if !ok {
			continue
		}
		asked[i] = c.Random
		r.Count(c, i%2 == 0)
		batch := store.NewBatch()
		batch.Add(website(i), outcome(now))
		r.Save(batch, now)
		if err := batch.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return asked
}

// TestSameChoice kills a refresh after a part of its requests. Both starts together ask for the answers that
// a refresh without a kill asks for.
func TestSameChoice(t *testing.T) {
	const n, budget = 500, 100
	now := noon.Add(time.Hour)
	whole := newStore(t, n)
	want := askSome(t, whole, begin(t, whole, "run", n, budget, now), n, n, now)

	store := newStore(t, n)
	got := askSome(t, store, begin(t, store, "run", n, budget, now), n, 37, now.Add(time.Minute))
	later := now.Add(24 * time.Hour) // the first start was killed, and another run has been there
	askSome(t, store, begin(t, store, "other", n, 0, later), n, n, later)
	r := begin(t, store, "run", n, budget, later)
	rest := askSome(t, store, r, n, n, later)
	if len(rest) != budget-37 {
		t.Errorf("%d asked after the kill", len(rest))
	}
	maps.Copy(got, rest)
	random := 0
	for i, isRandom := range want {
		if isRandom {
			random++
		}
		if gotRandom, asked := got[i]; !asked || gotRandom != isRandom {
			t.Errorf("website %d: asked %v, at random %v, want %v", i, asked, gotRandom, isRandom)
		}
	}
	if len(got) != budget || len(want) != budget || random != budget/10 {
		t.Errorf("%d asked, %d without a kill, %d at random", len(got), len(want), random)
	}

	if err := r.End(store, true); err != nil {
		t.Fatal(err)
	}
	h, err := historyOf(store, "s")
	if sum := h.fit().asked; err != nil || sum.Asked < budget-37 || sum.Asked > budget {
		t.Errorf("the history has %+v, %v", sum, err)
	}
	r = begin(t, store, "run", n, budget, later.Add(time.Hour))
	if r.Left() != budget {
		t.Errorf("the next refresh asks for %d", r.Left())
	}
}

// TestStopKeepsCounts has a refresh that is stopped keep all counts.
func TestStopKeepsCounts(t *testing.T) {
	store := newStore(t, 50)
	r := begin(t, store, "run", 50, 20, noon.Add(time.Hour))
	askSome(t, store, r, 50, 7, noon.Add(time.Hour))
	if err := r.End(store, false); err != nil {
		t.Fatal(err)
	}
	r = begin(t, store, "run", 50, 20, noon.Add(2*time.Hour))
	askSome(t, store, r, 50, 50, noon.Add(2*time.Hour))
	if err := r.End(store, true); err != nil {
		t.Fatal(err)
	}
	h, err := historyOf(store, "s")
	if sum := h.fit().asked; err != nil || sum.Asked != 20 || sum.Random != 2 || sum.Changed == 0 {
		t.Errorf("the history has %+v, %v", sum, err)
	}
}

func TestDamagedNotes(t *testing.T) {
	store := newStore(t, 10)
	batch := store.NewBatch()
	for _, name := range []string{historyNote, progressNote + "run", interimNote + "run"} {
		batch.AddNote(name, []byte(`{"Begun": 7, [`))
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	if r := begin(t, store, "run", 10, 5, noon.Add(time.Hour)); r.Left() != 5 {
		t.Errorf("%d chosen", r.Left())
	}
}

// TestHistory is bounded, comes back from its note, and forgets.
func TestHistory(t *testing.T) {
	h := make(History)
	for i := range 2 * mostStrata {
		h.add(Stratum{fmt.Sprint("category ", i%7), fmt.Sprint("tld", i), i % ages}, StratumCounts{Asked: 1, Days: 3, Random: 0.5}, 1)
	}
	if sum := h.fit().asked; len(h) > mostStrata+8*ages || math.Abs(sum.Asked-2*mostStrata) > 1e-6 {
		t.Errorf("%d strata, %+v", len(h), sum)
	}
	text, err := json.Marshal(h)
	if err != nil || len(text) > 250_000 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	var back History
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, h) {
		t.Errorf("back comes %d strata, %v", len(back), err)
	}
	for range 30 {
		h = h.merged(nil)
	}
	if len(h) >= mostStrata {
		t.Errorf("%d strata are left", len(h))
	}
}

// TestFit has the model learn from many observations, and fall back on categories and domains where there
// are few.
func TestFit(t *testing.T) {
	h := make(History)
	const days = 48 // in the stratum of ages from 32 days
	rates := map[string]float64{"fast": 0.02, "slow": 0.0005}
	for category, rate := range rates {
		for tld, factor := range map[string]float64{"com": 1, "shop": 3} {
			if category == "slow" && tld == "shop" {
				continue // never asked
			}
			changed := 1000 * -math.Expm1(-rate*factor*days)
			h.add(Stratum{category, tld, ageOf(days)}, StratumCounts{Asked: 1000, Changed: changed, Days: 1000 * days, Random: 100, RandomChanged: changed / 10}, 1)
		}
	}
	m := h.fit()
	p := func(category, tld string) float64 { return m.probability(Stratum{category, tld, ageOf(days)}, days) }
	for category, rate := range rates {
		if got, want := p(category, "com"), -math.Expm1(-rate*days); math.Abs(got/want-1) > 0.15 {
			t.Errorf("%s.com: %.4f, want %.4f", category, got, want)
		}
	}
	if !(p("slow", "shop") > 1.5*p("slow", "com")) || !(p("slow", "shop") < p("fast", "com")) {
		t.Errorf("slow.shop was never asked: %.4f", p("slow", "shop"))
	}
	if p("new", "new") <= p("slow", "com") || p("new", "new") >= p("fast", "shop") {
		t.Errorf("new: %.4f", p("new", "new"))
	}
	if math.Abs(m.level-1) > 0.1 {
		t.Errorf("level %.3f", m.level)
	}
	none := History(nil).fit()
	if a, b := none.probability(Stratum{"a", "x", 2}, 3), none.probability(Stratum{"b", "y", 8}, 200); a >= b {
		t.Errorf("without a history the older answer is not the more probable change: %v, %v", a, b)
	}
}

func TestStrata(t *testing.T) {
	for website, want := range map[string]string{
		"https://shop.example.co.uk/a.b": "uk", "http://example.com:8080": "com", "https://192.0.2.1/": "",
		"https://[2001:db8::1]/": "", "https://localhost": "", "https://xn--e1afmkfd.xn--p1ai": "xn--p1ai",
	} {
		if got := tld(website); got != want {
			t.Errorf("%s: %q, want %q", website, got, want)
		}
	}
	for value, want := range map[string]string{"A > B > C": "A", "541511": "54", "Pets": "Pets", "5": "5", "3D models > B": "3D models"} {
		classification := client.TaxonomyV3
		if strings.Trim(value, "0123456789") == "" {
			classification = client.NAICS
		}
		if got := firstLevel(classification, value); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	for days, want := range map[float64]int{0: 0, 0.9: 0, 1: 1, 1.9: 1, 2: 2, 48: 6, 1e6: ages - 1} {
		if got := ageOf(days); got != want {
			t.Errorf("%v days: %d, want %d", days, got, want)
		}
	}
}
