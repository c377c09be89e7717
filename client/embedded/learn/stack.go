package learn

import (
	"cmp"
	"math"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// The variables of a candidate's utility.
const (
	useShare    = iota // the logarithm of the candidate's share
	useEngine          // the confidence of the engine in the candidate
	useOdds            // the log odds of useEngine, scaled to 0 to 1
	useFirst           // 1 for the first answer of the engine
	useAbove           // the confidence of the engine in an ancestor
	useBelow           // the confidence of the engine in a descendant
	useNew             // 1 for a candidate of the engine without labels
	useNewBest         // the best share, if useNew is 1
	useParents         // the shares of the ancestors
	useChildren        // the shares of the descendants
	uses
)

// utility holds the weights of the variables.
type utility [uses]float64

// shipped are weights that were fitted to several sets of samples. Few examples change them little.
var shipped = utility{
	useShare: 0.8, useEngine: 1.8, useOdds: 2.1, useFirst: 0.8, useAbove: 0.4, useBelow: 0.2,
	useNew: 1.2, useNewBest: 0, useParents: 0.9, useChildren: -0.25,
}

const (
	mostShared   = 10   // candidates from classes
	leastShare   = 1e-4 // of a class whose categories are candidates
	shareFloor   = 1e-3 // added to a share: a very low share is no evidence against a candidate
	shrinkage    = 1    // weight of the shipped weights, in examples
	fitSteps     = 300
	fitRate      = 0.5
	mostFitted   = 20_000 // examples: enough for a dozen weights
	leastOdds    = 0.01   // lower probabilities count as leastOdds, and probabilities above 1-leastOdds as 1-leastOdds
	tinyGradient = 1e-9
)

// candidate is a category that may be the answer.
type candidate struct {
	category  int32
	share     float64 // of the classes that allow the category
	variables [uses]float64
	utility   float64

	// The likeliest class that allows the category or an ancestor, and its share; noClass for none.
	class      int32
	classShare float64
}

const noClass = -1

// tree is a taxonomy with working memory by category. Between uses, the memory is zero, except class and named.
type tree struct {
	*taxonomy.Taxonomy
	share []float64 // of the classes that allow the category
	under []float64 // the sum of share over the category and its descendants
	most  []float64 // the largest share of a class that allows the category
	class []int32   // the class with the share most, if most is above 0
	place []int32   // the index in the list of candidates, from 1
	named []bool    // a class allows the category
}

func newTree(t *taxonomy.Taxonomy, classes []Class) *tree {
	n := len(t.Categories)
	tr := &tree{
		Taxonomy: t, share: make([]float64, n), under: make([]float64, n), most: make([]float64, n),
		class: make([]int32, n), place: make([]int32, n), named: make([]bool, n),
	}
	for _, c := range classes {
		for _, k := range c.categories {
			tr.named[k] = true
		}
	}
	return tr
}

// candidates returns the candidates of an input: first the candidates from classes, then the others from the engine's matches.
func (t *tree) candidates(classes []Class, shares []float64, matches []classify.Match) []candidate {
	var likely []int32
	for c, share := range shares {
		if share < leastShare {
			continue
		}
		for _, k := range classes[c].categories {
			if t.share[k] == 0 {
				likely = append(likely, k)
			}
			t.share[k] += share
			if share > t.most[k] {
				t.class[k], t.most[k] = int32(c), share
			}
		}
	}
	for _, k := range likely {
		for a := int(k); a >= 0; a = t.Categories[a].Parent {
			t.under[a] += t.share[k]
		}
	}
	ordered := slices.Clone(likely)
	slices.SortFunc(ordered, func(a, b int32) int { return cmp.Or(cmp.Compare(t.share[b], t.share[a]), cmp.Compare(a, b)) })
	var list []candidate
	add := func(k int32) {
		if t.place[k] == 0 {
			list = append(list, candidate{category: k, share: t.share[k], class: noClass})
			t.place[k] = int32(len(list))
		}
	}
	for _, k := range ordered[:min(len(ordered), mostShared)] {
		add(k)
	}
	for _, m := range matches {
		add(int32(m.Category))
		for a := m.Category; a >= 0; a = t.Categories[a].Parent {
			if t.named[a] {
				add(int32(a))
			}
		}
	}
	best := 0.0
	if len(ordered) > 0 {
		best = t.share[ordered[0]]
	}
	for i := range list {
		t.describe(&list[i], best, matches)
	}
	for _, k := range likely {
		t.share[k], t.most[k] = 0, 0
		for a := int(k); a >= 0; a = t.Categories[a].Parent {
			t.under[a] = 0
		}
	}
	for _, c := range list {
		t.place[c.category] = 0
	}
	return list
}

// describe sets the variables of a candidate.
func (t *tree) describe(c *candidate, best float64, matches []classify.Match) {
	v := &c.variables
	v[useShare] = math.Log(c.share + shareFloor)
	if c.share == 0 && !t.named[c.category] {
		v[useNew], v[useNewBest] = 1, best
	}
	for a := int(c.category); a >= 0; a = t.Categories[a].Parent {
		if t.most[a] > c.classShare {
			c.class, c.classShare = t.class[a], t.most[a]
		}
	}
	v[useChildren] = max(t.under[c.category]-c.share, 0)
	for a := t.Categories[c.category].Parent; a >= 0; a = t.Categories[a].Parent {
		v[useParents] += t.share[a]
	}
	for rank, m := range matches {
		switch k := int32(m.Category); {
		case k == c.category:
			v[useEngine], v[useOdds] = m.Confidence, (logOdds(m.Confidence)-logOdds(0))/(logOdds(1)-logOdds(0))
			if rank == 0 {
				v[useFirst] = 1
			}
		case t.IsUnder(k, c.category):
			v[useBelow] = max(v[useBelow], m.Confidence)
		case t.IsUnder(c.category, k):
			v[useAbove] = max(v[useAbove], m.Confidence)
		}
	}
}

// logOdds is the logarithm of p/(1-p), with p between leastOdds and 1-leastOdds.
func logOdds(p float64) float64 {
	p = min(max(p, leastOdds), 1-leastOdds)
	return math.Log(p / (1 - p))
}

// rank sets the utilities of the candidates, and sorts the list, the best first.
func (u *utility) rank(list []candidate) {
	for i := range list {
		list[i].utility = dot(u[:], list[i].variables[:])
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.utility, a.utility), cmp.Compare(a.category, b.category))
	})
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// choice is the candidates of an example. At least one is right.
type choice struct {
	list  []candidate
	right []bool
}

// fitUtility maximizes the log probability of right candidates, by a softmax of the utilities, less a penalty for the distance
// to the shipped weights.
func fitUtility(choices []choice) utility {
	u := shipped
	choices = choices[:min(len(choices), mostFitted)]
	if len(choices) == 0 {
		return u
	}
	shrink := func(k int) float64 { return shrinkage * (u[k] - shipped[k]) }
	minimize(u[:], float64(len(choices)), fitSteps, shrink, func(gradient []float64) {
		for _, c := range choices {
			p := make([]float64, len(c.list))
			right := 0.0
			for i := range c.list {
				p[i] = dot(u[:], c.list[i].variables[:])
			}
			softmax(p)
			for i, isRight := range c.right {
				if isRight {
					right += p[i]
				}
			}
			for i := range c.list {
				d := p[i]
				if c.right[i] && right > 0 {
					d -= p[i] / right
				}
				for k, x := range c.list[i].variables {
					gradient[k] += d * x
				}
			}
		}
	})
	return u
}

// minimize minimizes the loss of n examples and a penalty by AdaGrad, which changes x. penalty is the gradient of the penalty, and
// loss adds the gradient of the loss.
func minimize(x []float64, n float64, steps int, penalty func(k int) float64, loss func(gradient []float64)) {
	squares, gradient := make([]float64, len(x)), make([]float64, len(x))
	for range steps {
		clear(gradient)
		loss(gradient)
		for k := range x {
			g := (gradient[k] + penalty(k)) / n
			squares[k] += g * g
			x[k] -= fitRate * g / (math.Sqrt(squares[k]) + tinyGradient)
		}
	}
}
