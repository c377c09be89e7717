package refresh

import "math"

const (
	// ages is the number of powers of two days: below 1, 2, 4, ... and the rest, from 3 years on.
	ages = 12

	// newRate is the rate of all answers before anything is known, in changes a day.
	newRate = 1.0 / 365

	// shape is the weight of what is expected before anything is known, in changes.
	shape = 4
	// storeShape is the weight of newRate, which is a guess.
	storeShape = 0.5

	// levelShape is the weight of the model's own estimate against the random samples, in changes: few
	// random changes say less than the model.
	levelShape = 10

	// rounds after which the factors agree to some thousandths.
	rounds = 40

	// mostRate bounds the rate, in changes a day, where all answers of a stratum have changed.
	mostRate = 10
)

// Stratum is answers that change at the same rate.
type Stratum struct {
	Category string // the classification, and the first level of the first category
	TLD      string // of a website, without the dot
	Age      int    // 0 below a day, 1 below two days, 2 below four, ...
}

// ageOf is the Stratum.Age of an answer.
func ageOf(days float64) int {
	if days < 1 {
		return 0
	}
	return min(ages-1, 1+int(math.Log2(days)))
}

// StratumCounts counts the answers of a stratum that were asked again. Counts of older refreshes are fractions.
type StratumCounts struct {
	Asked   float64
	Changed float64
	Days    float64 // sum of their ages

	Random        float64 // of Asked, those that were chosen at random
	RandomChanged float64
}

func (t *StratumCounts) add(u StratumCounts, weight float64) {
	t.Asked += weight * u.Asked
	t.Changed += weight * u.Changed
	t.Days += weight * u.Days
	t.Random += weight * u.Random
	t.RandomChanged += weight * u.RandomChanged
}

// model estimates the probability that an answer has changed.
type model struct {
	store      factor
	categories map[string]*factor
	tlds       map[string]*factor
	ages       [ages]factor
	strata     map[Stratum]*factor

	level float64       // changes in the random samples over those that are expected there
	asked StratumCounts // sum of all strata
}

// factor of a rate, with the sums that its mean is computed from.
type factor struct{ value, changed, expected float64 }

// observed is a stratum with the factors of its rate.
type observed struct {
	StratumCounts
	days    float64 // mean age
	factors [5]*factor
}

// fit makes the model of what earlier refreshes have found.
func (h History) fit() *model {
	m := &model{store: factor{value: 1}, categories: make(map[string]*factor), tlds: make(map[string]*factor), strata: make(map[Stratum]*factor)}
	for i := range m.ages {
		m.ages[i].value = 1
	}
	var all []observed
	for _, s := range h.sorted() { // sums of fractions depend on the order
		t := *h[s]
		if t.Asked <= 0 || t.Days <= 0 {
			continue
		}
		m.asked.add(t, 1)
		m.strata[s] = &factor{value: 1}
		all = append(all, observed{t, t.Days / t.Asked, [...]*factor{
			&m.store, factorOf(m.categories, s.Category), factorOf(m.tlds, s.TLD), &m.ages[s.Age], m.strata[s],
		}})
	}
	for range rounds {
		m.round(all)
	}
	expected := 0.0
	for _, o := range all {
		expected += o.Random * o.probability()
	}
	m.level = (levelShape + m.asked.RandomChanged) / (levelShape + expected)
	return m
}

// factorOf is the factor of a name, which is made if there is none.
func factorOf(factors map[string]*factor, name string) *factor {
	if factors[name] == nil {
		factors[name] = &factor{value: 1}
	}
	return factors[name]
}

// round computes the factors, one kind after the other.
func (m *model) round(all []observed) {
	for kind := range len(observed{}.factors) {
		for _, o := range all {
			f := o.factors[kind]
			f.changed += o.Changed
			f.expected += o.Asked * o.probability() / f.value
		}
		for _, o := range all {
			f := o.factors[kind]
			if f.expected == 0 {
				continue // computed for an earlier stratum
			}
			weight := float64(shape)
			if kind == 0 {
				weight = storeShape
			}
			*f = factor{value: (weight + f.changed) / (weight + f.expected)}
		}
	}
}

// probability is that of a change in a stratum.
func (o *observed) probability() float64 {
	rate := newRate
	for _, f := range o.factors {
		rate *= f.value
	}
	return probability(rate, o.days)
}

func probability(rate, days float64) float64 { return -math.Expm1(-min(rate, mostRate) * days) }

// probability is that of a change of an answer that was given days ago.
func (m *model) probability(s Stratum, days float64) float64 {
	rate := newRate * m.store.value * m.ages[s.Age].value
	for _, f := range [...]*factor{m.categories[s.Category], m.tlds[s.TLD], m.strata[s]} {
		if f != nil {
			rate *= f.value
		}
	}
	return probability(rate, days)
}

// outOfDate is the estimate of the probability, free from errors of the model on average over a store.
func (m *model) outOfDate(s Stratum, days float64) float64 {
	return min(1, m.level*m.probability(s, days))
}
