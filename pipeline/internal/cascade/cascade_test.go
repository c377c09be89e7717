package cascade

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

var begun = time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)

const classification = "product_taxonomy"

// model is a model whose confidence is a random number that the input decides.
type model struct{}

func (model) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	if r.Input == "" {
		return client.Answer{}, &client.Error{Class: client.Rejected}
	}
	return client.Answer{Entries: []client.Entry{{Value: "Model", Confidence: float64(xxhash.Sum64String(r.Input)>>11) / (1 << 53)}}}, nil
}

func request(i int) client.Request {
	return client.Request{Kind: client.Product, Classification: classification, Input: fmt.Sprintf("title %d", i)}
}

func answered(value string, at time.Time) answers.Outcome {
	body := fmt.Sprintf(`{%q:[]}`, classification)
	if value != "" {
		body = fmt.Sprintf(`{%q:[{"value":%q,"confidence":0.5}]}`, classification, value)
	}
	a, _ := client.ParseAnswer([]byte(body), classification)
	a.AnsweredAt = at
	return answers.Outcome{Answer: a}
}

func options() Options {
	return Options{Run: "run", Model: model{}, Source: "embedded+model", Classification: classification, Threshold: 0.5, Precision: 0.95, Audit: 0.01}
}

// begin makes the plan of requests that are offered in batches.
func begin(t *testing.T, store *answers.Store, o Options, queries []answers.Query) *Cascade {
	t.Helper()
	return beginAt(t, begun, store, o, queries)
}

// digestOf is the digest of the different requests.
func digestOf(queries []answers.Query) string {
	different, digest := make(map[client.Request]bool), uint64(0)
	for _, q := range queries {
		if !different[q.Request] {
			different[q.Request] = true
			digest ^= xxhash.Sum64String(q.Request.Input)
		}
	}
	return fmt.Sprint(digest)
}

func beginAt(t *testing.T, at time.Time, store *answers.Store, o Options, queries []answers.Query) *Cascade {
	t.Helper()
	c, err := Begin(store, o, at)
	if err != nil {
		t.Fatal(err)
	}
	for batch := range slices.Chunk(queries, 100) {
		if err := c.Offer(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Plan(digestOf(queries)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Save(store), c.Close()); err != nil {
		t.Fatal(err)
	}
	return c
}

func unanswered(n int) []answers.Query {
	list := make([]answers.Query, n)
	for i := range list {
		list[i].Request = request(i)
	}
	return list
}

func newStore(t *testing.T) *answers.Store {
	t.Helper()
	store, err := answers.Open(answers.Options{Path: filepath.Join(t.TempDir(), "answers.db"), Source: "https://api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// look looks up queries in the store.
func look(t *testing.T, store *answers.Store, queries []answers.Query) []answers.Query {
	t.Helper()
	queries = slices.Clone(queries)
	if err := store.LookupAll(queries); err != nil {
		t.Fatal(err)
	}
	return queries
}

func confidenceOf(r client.Request) float64 {
	a, _ := model{}.Attempt(context.Background(), r)
	return a.Entries[0].Confidence
}

// asked are the requests that the run asks although the model is sure; the others of those are free.
func asked(t *testing.T, c *Cascade, queries []answers.Query) (sample []client.Request, free int) {
	t.Helper()
	if c.Audit().Step == 0 {
		return nil, 0
	}
	for _, q := range queries {
		a, source, ok := c.Answer(q.Request)
		switch sure := confidenceOf(q.Request) >= c.Audit().Threshold; {
		case ok && (!sure || source != c.options.Source || !a.Free || !a.AnsweredAt.Equal(c.plan.Begun) || a.Entries[0].Confidence != confidenceOf(q.Request)):
			t.Fatalf("%+v of %s", a, source)
		case ok:
			free++
		case sure:
			sample = append(sample, q.Request)
		}
	}
	return sample, free
}

// TestPlan offers requests in other orders, in other batches and several times.
func TestPlan(t *testing.T) {
	const n = 20_000
	queries := unanswered(n)
	want := begin(t, nil, options(), queries).plan
	if len(want.Steps) != 5 {
		t.Fatalf("%d steps: %+v", len(want.Steps), want.Steps)
	}
	for i, s := range want.Steps {
		share := append([]float64{1}, shares[:]...)[i]
		if got := float64(s.requests) / n * 2; got < share-0.02 || got > share+0.02 {
			t.Errorf("step %d has %.3f of the requests, want %.2f", i+1, got, share)
		}
		if s.sample != 300 || s.free != s.requests-300 || s.most < 2 || s.most > 7 {
			t.Errorf("step %d: %+v", i+1, s)
		}
		if i > 0 && (s.Cut < want.Steps[i-1].Cut || s.Threshold <= want.Steps[i-1].Threshold) {
			t.Errorf("step %d: the cut %d and the threshold %v are below those before", i+1, s.Cut, s.Threshold)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		random.Shuffle(n, func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
		if got := begin(t, nil, options(), append(queries, queries[:500]...)).plan; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

// TestSample checks the number of requests that a run asks although the model is sure.
func TestSample(t *testing.T) {
	for name, tt := range map[string]struct {
		n           int // requests, about half of which the model is sure about
		change      func(*Options)
		before      int // of the requests, those that were answered before the plan
		steps       int
		least, most int // requests of the sample
		cause       account.AuditCause
	}{
		"few":                  {n: 1000, steps: 2, least: 300, most: 300},
		"too few":              {n: 500, cause: account.TooFew},
		"many":                 {n: 60_000, change: func(o *Options) { o.Audit = 0.05 }, steps: 5, least: 1400, most: 1600},
		"a finer precision":    {n: 20_000, change: func(o *Options) { o.Precision = 0.99 }, steps: 4, least: 1500, most: 1500},
		"no audit":             {n: 1000, change: func(o *Options) { o.Audit = 0 }, steps: 1},
		"all are audited":      {n: 1000, change: func(o *Options) { o.Audit = 1 }, cause: account.TooFew},
		"never sure":           {n: 1000, change: func(o *Options) { o.Threshold = 1 }, cause: account.NoneSure},
		"other classification": {n: 1000, change: func(o *Options) { o.Classification = "another" }, cause: account.NoneSure},
		"answered before":      {n: 2000, before: 1000, steps: 2, least: 300, most: 300},
		"offline":              {n: 1000, change: func(o *Options) { o.Offline = true }, cause: account.Unplanned},
	} {
		t.Run(name, func(t *testing.T) {
			o, queries := options(), unanswered(tt.n)
			if tt.change != nil {
				tt.change(&o)
			}
			for i := range tt.before {
				queries[i].Found, queries[i].Outcome = true, answered("Model", begun.Add(-time.Hour))
			}
			c := begin(t, nil, o, queries)
			sample, free := asked(t, c, queries[tt.before:])
			if len(c.plan.Steps) != tt.steps || len(sample) < tt.least || len(sample) > tt.most {
				t.Errorf("%d steps, a sample of %d; want %d, %d to %d", len(c.plan.Steps), len(sample), tt.steps, tt.least, tt.most)
			}
			a := c.Audit()
			if (free > 0) != (tt.steps > 0) || c.Free() != int64(free) || a.Sample != int64(len(sample)) || a.Missing != a.Sample || a.Cause != tt.cause || tt.steps > 0 && a.Requests != int64(free+len(sample)) {
				t.Errorf("%d free, %+v; want %d", c.Free(), a, free)
			}
		})
	}
}

// outcomeOf is the outcome of a service that agrees or not.
func outcomeOf(agrees bool) answers.Outcome {
	if agrees {
		return answered("Model", begun.Add(time.Second))
	}
	return answered("Other", begun.Add(time.Second))
}

// TestAudit counts outcomes until an audit fails, and starts the run again.
func TestAudit(t *testing.T) {
	store, queries := newStore(t), unanswered(20_000)
	c := begin(t, store, options(), queries)
	batch := store.NewBatch()
	answer := func(i int, r client.Request, o answers.Outcome) error {
		batch.Add(r, o)
		return c.Count(r, o)
	}
	sample, _ := asked(t, c, queries)
	most := int(c.plan.Steps[0].most)
	disagreeing := []answers.Outcome{answered("Other", begun), answered("", begun), {Answer: client.Answer{AnsweredAt: begun}, Rejection: &client.Error{Class: client.Rejected, Status: 404}}}
	for i, r := range sample[:most] {
		if err := answer(i, r, disagreeing[i%3]); err != nil {
			t.Fatalf("disagreement %d of %d: %v", i+1, most, err)
		}
	}
	for i, r := range sample[most : len(sample)-1] {
		if err := answer(i, r, outcomeOf(true)); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	if a := c.Audit(); a.Missing != 1 || a.Bound >= 0.95 || int(a.Disagreed) != most {
		t.Errorf("without the last: %+v", a)
	}
	last := sample[len(sample)-1]
	other := begin(t, store, options(), look(t, store, queries)) // a start whose last outcome is another
	if other.Audit() != c.Audit() || other.Free() != c.Free() {
		t.Errorf("started again: %+v, %d free; want %+v, %d", other.Audit(), other.Free(), c.Audit(), c.Free())
	}
	if err := c.Count(last, outcomeOf(true)); err != nil {
		t.Error(err)
	}
	if a := c.Audit(); a.Missing != 0 || a.Bound < 0.95 || a.Level != 0.975 || a != Restated(a) {
		t.Errorf("at the most: %+v", a)
	}
	if err := other.Count(last, outcomeOf(false)); err != ErrRaised {
		t.Fatalf("one disagreement more: %v", err)
	}
	failed, free := other.Audit(), other.Free()
	if raised := other.Raise(); raised != failed || other.Audit().Step < 2 || other.Free() >= free {
		t.Errorf("raised from %+v to %+v", raised, other.Audit())
	}
	batch = store.NewBatch()
	batch.Add(last, outcomeOf(false))
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	if again := begin(t, store, options(), look(t, store, queries)); again.Audit() != other.Audit() || again.Free() != other.Free() {
		t.Errorf("started again: %+v, want %+v", again.Audit(), other.Audit())
	}
}

// TestNothingIsFreeAtLast has a service that never agrees.
func TestNothingIsFreeAtLast(t *testing.T) {
	queries := unanswered(20_000)
	c := begin(t, nil, options(), queries)
	asks := 0
	for {
		sample, free := asked(t, c, queries)
		if free == 0 {
			if a := c.Audit(); a.Step != 0 || c.Free() != 0 || a.Cause != account.AuditFailed {
				t.Errorf("at last: %s, %d free", a, c.Free())
			}
			return
		}
		for _, r := range sample {
			asks++
			if err := c.Count(r, outcomeOf(false)); err == ErrRaised {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if c.Raise(); asks > 50 {
			t.Fatalf("%d asked in vain", asks)
		}
	}
}

// TestBoundHolds simulates services: the share of all requests to which a service agrees is as high as the bound says for
// 95% of them at least. The services agree more often where the model is surer, and about as often as is wanted.
func TestBoundHolds(t *testing.T) {
	const services = 200
	queries := unanswered(2000)
	right, steps := 0, make(map[int]int)
	for seed := range uint64(services) {
		random := rand.New(rand.NewPCG(seed, 3))
		least := 0.85 + 0.15*random.Float64()
		agrees := make(map[client.Request]bool)
		for _, q := range queries {
			agrees[q.Request] = random.Float64() < least+(1-least)*confidenceOf(q.Request)
		}
		o := options()
		o.Source = fmt.Sprint("embedded+", seed) // has other samples
		c := begin(t, nil, o, queries)
		counted := make(map[client.Request]bool)
		for {
			sample, _ := asked(t, c, queries)
			var err error
			for _, r := range sample {
				if !counted[r] && err == nil {
					counted[r], err = true, c.Count(r, outcomeOf(agrees[r]))
				}
			}
			if err == nil {
				break
			}
			c.Raise()
		}
		a := c.Audit()
		steps[a.Step]++
		sure, agreed := 0, 0
		for _, q := range queries {
			if a.Step > 0 && confidenceOf(q.Request) >= a.Threshold {
				sure++
				if agrees[q.Request] {
					agreed++
				}
			}
		}
		if a.Step > 0 && (a.Bound < o.Precision || a.Missing != 0 || int(a.Requests) != sure) {
			t.Errorf("service %d: %+v", seed, a)
		}
		if float64(agreed) >= a.Bound*float64(sure) {
			right++
		}
	}
	t.Logf("the bound holds for %d of %d services; the steps are %v", right, services, steps)
	if right < services*95/100 {
		t.Errorf("the bound holds for %d of %d services", right, services)
	}
	if len(steps) < 3 {
		t.Errorf("all services are alike: %v", steps)
	}
}

// TestLimit checks the most disagreements against tables of the binomial distribution.
func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		step      int
		sample    int64
		precision float64
		most      int64
	}{
		{1, 300, 0.95, 7}, {2, 300, 0.95, 6}, {5, 300, 0.95, 4}, {1, 1500, 0.99, 7}, {1, 10_000, 0.95, 457}, {1, 50, 0.95, -1}, {1, 0, 0.95, -1},
	} {
		s := step{sample: tt.sample}
		if s.setMost(tt.step, tt.precision); s.most != tt.most {
			t.Errorf("step %d, %d requests, %v: %d may disagree, want %d", tt.step, tt.sample, tt.precision, s.most, tt.most)
		}
	}
}

// TestGrownPlan has a list that is too short for free answers at first.
func TestGrownPlan(t *testing.T) {
	store := newStore(t)
	for _, tt := range []struct {
		n      int
		isFree bool
	}{{400, false}, {400, false}, {2000, true}, {2000, true}} {
		c := begin(t, store, options(), unanswered(tt.n))
		if (c.Free() > 0) != tt.isFree {
			t.Errorf("%d requests: %d are free; %+v", tt.n, c.Free(), c.plan)
		}
	}
}

// TestNights begins a further cascade after one whose sample is answered in part or in full. The plan goes on for the same requests,
// and others get a plan whose audit counts no outcome of an earlier night.
func TestNights(t *testing.T) {
	const n = 4000
	queries := unanswered(n)
	next := begun.Add(24 * time.Hour)
	for name, tt := range map[string]struct {
		answered float64 // of the sample in the first night
		queries  []answers.Query
		change   func(*Options)
		number   int // of the plan of the next night
		cause    account.AuditCause
		saved    int // the number of the plan in the store after it
	}{
		"killed":               {answered: 0.5, queries: queries, number: 1, saved: 1},
		"complete":             {answered: 1, queries: queries, number: 1, saved: 1},
		"in another order":     {answered: 1, queries: append(slices.Clone(queries[10:]), queries[:20]...), number: 1, saved: 1},
		"more requests":        {answered: 1, queries: unanswered(n + 100), number: 2, saved: 2},
		"more, killed":         {answered: 0.5, queries: unanswered(n + 100), number: 2, saved: 2},
		"fewer requests":       {answered: 1, queries: queries[:n-1], number: 2, saved: 2},
		"as many others":       {answered: 1, queries: unanswered(n + 1)[1:], number: 2, saved: 2},
		"other settings":       {answered: 1, queries: queries, change: func(o *Options) { o.Run, o.Precision = "other", 0.94 }, number: 1, saved: 1},
		"too old":              {answered: 1, queries: queries, change: func(o *Options) { o.MaxAge = 23 * time.Hour }, number: 2, saved: 2},
		"not too old":          {answered: 1, queries: queries, change: func(o *Options) { o.MaxAge = 25 * time.Hour }, number: 1, saved: 1},
		"offline":              {answered: 1, queries: queries, change: func(o *Options) { o.Offline, o.MaxAge = true, time.Hour }, number: 1, saved: 1},
		"offline, more":        {answered: 1, queries: unanswered(n + 100), change: func(o *Options) { o.Offline = true }, number: 2, cause: account.Unplanned, saved: 1},
		"offline, of settings": {answered: 1, queries: queries, change: func(o *Options) { o.Offline, o.Run = true, "other" }, number: 1, cause: account.Unplanned},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			first := begin(t, store, options(), queries)
			sample, free := asked(t, first, queries)
			batch := store.NewBatch()
			for _, r := range sample[:int(tt.answered*float64(len(sample)))] {
				batch.Add(r, outcomeOf(true))
			}
			if err := batch.Commit(); err != nil {
				t.Fatal(err)
			}
			o := options()
			if tt.change != nil {
				tt.change(&o)
			}
			c := beginAt(t, next, store, o, look(t, store, tt.queries))
			a := c.Audit()
			if a.Cause != tt.cause || c.plan.Number != tt.number || (tt.cause == "") != (c.Free() > 0) {
				t.Errorf("plan %d, %d free, %+v", c.plan.Number, c.Free(), a)
			}
			switch isNew := tt.number == 2 || o.Run != options().Run; {
			case tt.cause != "":
			case isNew && (!a.Begun.Equal(next) || a.Sample != 300 || a.Missing != 300 || a.Bound != 0 || c.AtRisk() != c.Free()):
				t.Errorf("the earlier night counts: %+v, %d free, %d at risk", a, c.Free(), c.AtRisk())
			case !isNew && (!a.Begun.Equal(begun) || a.Missing != a.Sample-int64(tt.answered*float64(len(sample))) || c.Free() != int64(free) || (c.AtRisk() > 0) != (a.Missing > 0)):
				t.Errorf("the plan did not go on: %+v, %d free, %d at risk", a, c.Free(), c.AtRisk())
			}
			note, err := store.Note(noteName + o.Run)
			var saved plan
			if err != nil || saved.decode(note) != (tt.saved > 0) || saved.Number != tt.saved {
				t.Errorf("saved plan %d, %v; want %d", saved.Number, err, tt.saved)
			}
		})
	}
}

// TestNewRequestsAreSampledAsOthers has nights whose lists grow. Requests that are new are in the sample as often as the others:
// the service may agree with these more often.
func TestNewRequestsAreSampledAsOthers(t *testing.T) {
	const old, all = 6000, 8000
	for name, change := range map[string]func(*Options){
		"the same file":   func(*Options) {},
		"another file":    func(o *Options) { o.Run = "other" },
		"a new precision": func(o *Options) { o.Run, o.Precision = "other", 0.96 },
	} {
		t.Run(name, func(t *testing.T) {
			store, o := newStore(t), options()
			o.Audit = 0.2
			c := begin(t, store, o, unanswered(old))
			sample, _ := asked(t, c, unanswered(old))
			batch := store.NewBatch()
			for _, r := range sample {
				batch.Add(r, outcomeOf(true))
			}
			if err := batch.Commit(); err != nil {
				t.Fatal(err)
			}
			change(&o)
			grown := slices.DeleteFunc(look(t, store, unanswered(all)), func(q answers.Query) bool { return q.Found })
			c = beginAt(t, begun.Add(time.Hour), store, o, look(t, store, unanswered(all)))
			sampled, sure := make(map[bool]float64), make(map[bool]float64)
			for i, q := range grown {
				if confidenceOf(q.Request) < c.plan.Steps[0].Threshold {
					continue
				}
				isNew := i >= len(grown)-(all-old)
				sure[isNew]++
				if _, _, free := c.Answer(q.Request); !free {
					sampled[isNew]++
				}
			}
			if before, now := sampled[false]/sure[false], sampled[true]/sure[true]; before < 0.15 || before > 0.25 || now < 0.15 || now > 0.25 {
				t.Errorf("%.3f of the earlier requests are in the sample, and %.3f of the new", before, now)
			}
		})
	}
}

// TestDamagedPlan makes a new plan where the note is none.
func TestDamagedPlan(t *testing.T) {
	store := newStore(t)
	batch := store.NewBatch()
	batch.AddNote(noteName+"run", []byte(`{"begun":"2026-01-01T00:00:00Z","steps":[{"thresh`))
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	c := begin(t, store, options(), unanswered(2000))
	if !c.plan.Begun.Equal(begun) || len(c.plan.Steps) == 0 {
		t.Errorf("got %+v", c.plan)
	}
}
