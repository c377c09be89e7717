package classify

import (
	"math"
	"regexp"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// linkage links the categories of a taxonomy to the categories of another taxonomy, the base, which has more words: if the base's
// engine finds "kettle", a linked category "Wasserkocher" matches.
type linkage struct {
	base  *Engine
	found [][]taxonomy.Link // by category
	to    [][]linkTo        // by category of the base
}

// linkTo is a link from a category of the base.
type linkTo struct {
	category int32
	weight   float32
}

const (
	mostLinks    = 5    // of one name
	mostLinked   = 8    // categories of the base that match a title
	linkSharp    = 3    // the exponent of a link's share of the best score, which is its weight
	leaderSharp  = 2    // the exponent of a category's share of the best score for a title
	linkDown     = 0.6  // the part of a link's weight that each level below gets
	linkUp       = 0.4  // the part of a link's weight that each level above gets
	orPenalty    = 0.15 // exponent of the number of alternatives in a name: "Shirts" is more likely than "Shirts or Suits"
	linkOfParent = 0.5  // the factor of the weights of links of a category with children
	ownWords     = 0.05 // the weight of a score from the category's own words
)

// orParts separates the alternatives in a name.
var orParts = regexp.MustCompile(`\s+(?:or|oder|ou|o|und)\s+|\s*[,/&|]\s*`)

// LinkTo links the categories to categories of base, the engine of the product taxonomy: by the links of the taxonomy's file, or else
// by their names. Call LinkTo before any other method.
func (e *Engine) LinkTo(base *Engine) {
	l := &linkage{base: base, to: make([][]linkTo, len(base.taxonomy.Categories))}
	for i := range e.taxonomy.Categories {
		found := e.taxonomy.Categories[i].Linked()
		if found == nil {
			found = base.linksOf(e.taxonomy.Categories[i].Name)
		}
		l.found = append(l.found, found)
		share := float32(1)
		if !e.isLeaf(int32(i)) {
			share = linkOfParent
		}
		for _, link := range found {
			weight := share * float32(link.Weight)
			l.spread(int32(i), int32(link.Category), weight)
			for p := base.taxonomy.Categories[link.Category].Parent; p >= 0; p = base.taxonomy.Categories[p].Parent {
				weight *= linkUp
				l.add(int32(p), int32(i), weight)
			}
		}
	}
	e.links, e.title = l, &linkFit
}

// Base returns the taxonomy of LinkTo's base.
func (e *Engine) Base() *taxonomy.Taxonomy { return e.links.base.taxonomy }

// Links returns the links of a category.
func (e *Engine) Links(category int) []taxonomy.Link { return e.links.found[category] }

// linksOf finds the links of a name and of its alternatives.
func (e *Engine) linksOf(name string) (found []taxonomy.Link) {
	parts := orParts.Split(name, -1)
	part := math.Pow(float64(len(parts)), -orPenalty)
	for _, text := range append([]string{name}, parts...) {
		leaders, _ := e.best(text, mostLinks, linkSharp)
		for _, r := range leaders {
			i := slices.IndexFunc(found, func(l taxonomy.Link) bool { return l.Category == int(r.category) })
			if i < 0 {
				i = len(found)
				found = append(found, taxonomy.Link{Category: int(r.category)})
			}
			found[i].Weight = max(found[i].Weight, part*float64(r.score))
		}
	}
	return found
}

// best returns the leading categories of a title and the confidence of the first. Their scores are the shares of the best
// score, raised to the power sharp.
func (e *Engine) best(title string, most int, sharp float64) (shares []ranked, confidence float64) {
	e = e.forTitle(title)
	s := e.borrow()
	defer e.giveBack(s)
	e.scoreTitle(s, title)
	leaders := e.leaders(s)
	if len(leaders) == 0 {
		return nil, 0
	}
	shares = slices.Clone(leaders[:min(most, len(leaders))])
	for i := range shares {
		shares[i].score = float32(math.Pow(float64(leaders[i].score/leaders[0].score), sharp))
	}
	return shares, titleFit.confidence(e.evidence(s, leaders, 0))
}

// spread adds a link to a category of the base and, with falling weight, to its descendants.
func (l *linkage) spread(category, base int32, weight float32) {
	l.add(base, category, weight)
	all := l.base.taxonomy.Categories
	for c := base + 1; int(c) < len(all) && l.base.taxonomy.IsUnder(c, base); c++ { // descendants follow
		below := weight
		for range all[c].Depth - all[base].Depth {
			below *= linkDown
		}
		l.add(c, category, below)
	}
}

func (l *linkage) add(base, category int32, weight float32) {
	list := l.to[base]
	if n := len(list); n > 0 && list[n-1].category == category {
		list[n-1].weight = max(list[n-1].weight, weight)
		return
	}
	l.to[base] = append(list, linkTo{category, weight})
}

// scoreLinked ranks the categories for a title by their own words and by their links.
func (e *Engine) scoreLinked(s *scratch, title string) {
	for i := range s.ranked {
		s.ranked[i].score *= ownWords
	}
	place := make(map[int32]int, len(s.ranked))
	for i, r := range s.ranked {
		place[r.category] = i
	}
	leaders, confidence := e.links.base.best(title, mostLinked, leaderSharp)
	s.linkConfidence = confidence
	for _, leader := range leaders {
		for _, to := range e.links.to[leader.category] {
			i, ok := place[to.category]
			if !ok {
				i = len(s.ranked)
				place[to.category] = i
				s.ranked = append(s.ranked, ranked{category: to.category})
			}
			s.ranked[i].score += leader.score * to.weight
		}
	}
	s.tops.clear()
	for _, r := range s.ranked {
		s.tops.add(e.top[r.category], r.score)
	}
}
