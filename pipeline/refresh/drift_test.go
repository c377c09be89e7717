package refresh_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/refresh"
)

var (
	websites = flag.Int("websites", 10_000, "websites of the service that drifts")
	seeds    = flag.Int("seeds", 2, "services that drift, one after the other")
)

// site is a website whose categories change from time to time.
type site struct {
	request  client.Request
	category int
	rate     float64 // changes a day
	version  int     // of the categories
	next     float64 // day of the next change
}

// answer is what the service answers now.
func (s *site) answer() client.Answer {
	body := fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"Category %d > Topic %d","confidence":0.5}]}`, s.category, s.version)
	answer, err := client.ParseAnswer(body, client.TaxonomyV3)
	if err != nil {
		panic(err)
	}
	return answer
}

// drifting is a service whose answers drift by category, top-level domain and age.
type drifting struct {
	rand  *rand.Rand
	sites []*site
}

const (
	categories = 20
	tlds       = 12
	firstAges  = 700 // days in which the sites were asked for the first time
	roundDays  = 28
)

var dayZero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(day float64) time.Time { return dayZero.Add(time.Duration(day * 24 * float64(time.Hour))) }

func newDrifting(seed uint64, n int) *drifting {
	d := &drifting{rand: rand.New(rand.NewPCG(seed, 1))}
	factors := func(n int, spread float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = math.Exp(spread * d.rand.NormFloat64())
		}
		return list
	}
	ofCategory, ofTLD := factors(categories, 1.4), factors(tlds, 0.6)
	for i := range n {
		s := &site{category: d.rand.IntN(categories)}
		// Some top-level domains and categories are frequent, others rare.
		tld := int(tlds * math.Pow(d.rand.Float64(), 2))
		s.request = client.Request{Kind: client.Website, Classification: client.TaxonomyV3, Input: fmt.Sprintf("https://site%d.tld%c", i, 'a'+tld)}
		s.rate = ofCategory[s.category] * ofTLD[tld] * 0.0006
		s.next = d.after(s, -firstAges)
		d.sites = append(d.sites, s)
	}
	return d
}

// after gives the day of the next change of a site. For some weeks after a change, the site changes twice as
// often as later.
func (d *drifting) after(s *site, change float64) float64 {
	const weeks = 90
	changes := d.rand.ExpFloat64()
	if days := changes / (2 * s.rate); days < weeks {
		return change + days
	}
	return change + weeks + (changes-2*s.rate*weeks)/s.rate
}

// pass lets a site change up to a day.
func (d *drifting) pass(s *site, day float64) {
	for ; s.next <= day; s.next = d.after(s, s.next) {
		s.version++
	}
}

// kept is the stored answers of one way to refresh.
type kept struct {
	*testing.T
	store *answers.Store
	found int // changes
	asked int // again
}

func newKept(t *testing.T) *kept {
	store, err := answers.Open(answers.Options{Dir: "store", Source: "https://api.example.com", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return &kept{T: t, store: store}
}

func (k *kept) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// stored gives the stored answers of all sites.
func (k *kept) stored(d *drifting) []answers.Outcome {
	queries := make([]answers.Query, len(d.sites))
	for i, s := range d.sites {
		queries[i].Request = s.request
	}
	for some := range slices.Chunk(queries, 1000) {
		k.must(k.store.LookupAll(some))
	}
	outcomes := make([]answers.Outcome, len(d.sites))
	for i, q := range queries {
		outcomes[i] = q.Outcome
	}
	return outcomes
}

// ask asks for a site and reports whether the answer has changed.
func (k *kept) ask(batch *answers.Batch, s *site, last answers.Outcome, day float64) (changed bool) {
	answer := s.answer()
	answer.AnsweredAt = at(day)
	batch.Add(s.request, answers.Outcome{Answer: answer})
	if last.AskedAt().IsZero() {
		return false
	}
	same, _ := refresh.Same(last.Answer, answer)
	k.asked++
	if !same {
		k.found++
	}
	return !same
}

// refresh asks again as a run does.
func (k *kept) refresh(d *drifting, day float64, budget int) {
	r, err := refresh.Begin(k.store, "run", int64(budget), at(day))
	k.must(err)
	stored := k.stored(d)
	for i, s := range d.sites {
		k.must(r.Offer([]answers.Query{{Request: s.request, Found: true, Outcome: stored[i]}}))
	}
	r.Choose()
	k.must(r.Start(k.store))
	batch := k.store.NewBatch()
	for i, s := range d.sites {
		if c, ok := r.Take(s.request, stored[i]); ok {
			r.Count(c, k.ask(batch, s, stored[i], day))
		}
	}
	k.must(batch.Commit())
	k.must(r.End(k.store, true))
}

// byRate asks the answers again whose change is most probable, by rates a day.
func (k *kept) byRate(d *drifting, day float64, budget int, rate func(*site) float64) {
	stored := k.stored(d)
	order, unchanged := make([]int, len(stored)), make([]float64, len(stored))
	for i, o := range stored {
		order[i], unchanged[i] = i, math.Exp(-rate(d.sites[i])*at(day).Sub(o.AskedAt()).Hours()/24)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(unchanged[a], unchanged[b]) })
	batch := k.store.NewBatch()
	for _, i := range order[:budget] {
		k.ask(batch, d.sites[i], stored[i], day)
	}
	k.must(batch.Commit())
}

// outOfDate gives the estimate of the share that is out of date, and the truth.
func (k *kept) outOfDate(d *drifting, day float64) (estimate, truth float64) {
	stats, err := refresh.StatsOf(k.store, at(day))
	k.must(err)
	for i, last := range k.stored(d) {
		if same, _ := refresh.Same(last.Answer, d.sites[i].answer()); !same {
			truth += 1 / float64(len(d.sites))
		}
	}
	if share := stats.Freshness[0].OutOfDate; share != nil {
		estimate = *share
	}
	return estimate, truth
}

// TestDrift refreshes a list each month for a year, and wants 1.5 times as many changes found as by asking
// the oldest answers, nearly as many as by asking with the true rates, and an estimate within 20% of the truth
// for nine of ten seeds.
func TestDrift(t *testing.T) {
	const rounds, budgetShare = 12, 20
	found, oldest, best, near := 0, 0, 0, 0
	for seed := range uint64(*seeds) {
		d := newDrifting(seed, *websites)
		byModel, byAge, byTruth := newKept(t), newKept(t), newKept(t)
		ways := []*kept{byModel, byAge, byTruth}
		days := make([]float64, len(d.sites))
		for i, s := range d.sites {
			days[i] = -firstAges * d.rand.Float64()
			d.pass(s, days[i])
		}
		for _, way := range ways {
			batch := way.store.NewBatch()
			for i, s := range d.sites {
				way.ask(batch, s, answers.Outcome{}, days[i])
			}
			way.must(batch.Commit())
		}
		day, budget := 0.0, len(d.sites)/budgetShare
		for range rounds {
			day += roundDays
			for _, s := range d.sites {
				d.pass(s, day)
			}
			byModel.refresh(d, day, budget)
			byAge.byRate(d, day, budget, func(*site) float64 { return 0.001 })
			byTruth.byRate(d, day, budget, func(s *site) float64 { return s.rate })
		}
		for _, way := range ways {
			if way.asked != rounds*budget {
				t.Fatalf("seed %d: asked %d times, want %d", seed, way.asked, rounds*budget)
			}
		}
		estimate, truth := byModel.outOfDate(d, day)
		t.Logf("seed %d: %d changes found, %d by age, %d by the true rates; %.1f%% are out of date, estimated %.1f%% (%+.0f%%)",
			seed, byModel.found, byAge.found, byTruth.found, 100*truth, 100*estimate, 100*(estimate/truth-1))
		found, oldest, best = found+byModel.found, oldest+byAge.found, best+byTruth.found
		if math.Abs(estimate/truth-1) <= 0.2 {
			near++
		}
	}
	gain := float64(found) / float64(oldest)
	t.Logf("%.2f times as many changes; the estimate is near for %d of %d seeds", gain, near, *seeds)
	if gain < 1.5 {
		t.Errorf("%d changes found, %d by asking the oldest: %.2f times as many, want 1.5", found, oldest, gain)
	}
	if float64(found) < 0.85*float64(best) {
		t.Errorf("%d changes found, %d by the true rates", found, best)
	}
	if near < 9**seeds/10 {
		t.Errorf("the estimate is within 20%% of the truth for %d of %d seeds", near, *seeds)
	}
}
