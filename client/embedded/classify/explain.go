package classify

import (
	"cmp"
	"slices"
)

// Contribution is what some words of a text add to the score of a category that
// was answered.
type Contribution struct {
	Category int      // the category answered
	Speaker  int      // the category whose words they are: Category, an ancestor of it, or a child it stands for
	Words    string   // as they first stand in the text, in lower case and without accents
	Fields   []string // the names of the fields they were read in
	Weight   float64  // what they add to the category's score
	Share    float64  // of that score; the shares of one category add up to 1
}

// ExplainTitle returns what Title returns for the parts joined, and why: the
// contributions to each match, in their order, the weightiest first.
func (e *Engine) ExplainTitle(parts []Part) ([]Match, []Contribution) {
	s := newScratch(e.index, len(e.taxonomy.Categories))
	e.scoreTitle(s, Join(parts))
	x := explainer{Engine: e, s: s, ranked: slices.Clone(s.ranked), sources: e.titleSources(parts)}
	matches := e.answer(s, maxTitleMatches, &titleFit)
	return matches, x.contributions(matches, x.titleSummands)
}

// ExplainWebsite returns what Website returns, and why: the contributions to each
// match, in their order, the weightiest first. names are those of the page's
// fields. The words of the URL are read in "host" and "path", and what the
// top-level domain says in "domain".
func (e *Engine) ExplainWebsite(host string, path []string, page []Field, names []string, limit int) ([]Match, []Contribution) {
	s := newScratch(e.index, len(e.taxonomy.Categories))
	fit, share := e.name, inheritedByName
	if e.scoreWebsite(s, host, path, page) {
		fit, share = e.document, inherited
	}
	x := explainer{Engine: e, s: s, ranked: slices.Clone(s.ranked), sources: e.websiteSources(host, path, page, names)}
	matches := e.answer(s, limit, fit)
	return matches, x.contributions(matches, func(category int32) []summand {
		return x.websiteSummands(category, share)
	})
}

// explainer takes the scores of a text apart. Its scratch is its own, and not
// given back: scoring again in parts leaves it unfit for other texts.
type explainer struct {
	*Engine
	s       *scratch
	ranked  []ranked // before parents took their children's place
	sources map[int32]source
}

// summand is what a term is worth to a score before that is scaled.
type summand struct {
	speaker int32
	term    int32
	worth   float64
}

// contributions scales the summands of every match to its score.
func (x *explainer) contributions(matches []Match, summands func(category int32) []summand) []Contribution {
	var all []Contribution
	for i, m := range matches {
		r := x.scored(int32(m.Category), i == 0)
		all = append(all, x.merge(m.Category, float64(r.score), summands(r.category))...)
	}
	return all
}

// scored returns the category that has a match's score, and the score. It is
// the match itself, or the leading child if the first match is a parent that was
// put in the place of its children.
func (x *explainer) scored(category int32, isFirst bool) ranked {
	own, lead := ranked{category: category}, x.ranked[0]
	for _, r := range x.ranked {
		if r.category == category {
			own = r
		}
		if r.before(lead) {
			lead = r
		}
	}
	if isFirst && x.taxonomy.Categories[lead.category].Parent == int(category) {
		return lead
	}
	return own
}

// merge makes one contribution of summands with the same words and speaker.
func (x *explainer) merge(category int, score float64, summands []summand) []Contribution {
	total := 0.0
	for _, v := range summands {
		total += v.worth
	}
	var list []Contribution
	for _, v := range summands {
		from := x.sources[v.term]
		i := slices.IndexFunc(list, func(c Contribution) bool { return c.Speaker == int(v.speaker) && c.Words == from.words })
		if i < 0 {
			i = len(list)
			list = append(list, Contribution{Category: category, Speaker: int(v.speaker), Words: from.words, Fields: from.fields})
		}
		list[i].Share += v.worth / total
		list[i].Weight += v.worth / total * score
	}
	slices.SortStableFunc(list, func(a, b Contribution) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Words, b.Words))
	})
	return list
}

// websiteSummands are what the terms are worth to a category, and to each of its
// ancestors of which it inherits a share.
func (x *explainer) websiteSummands(category int32, share float64) []summand {
	var list []summand
	for _, t := range x.s.terms {
		x.sumAlone(t)
		part := 1.0
		for c := int(category); c >= 0; c = x.taxonomy.Categories[c].Parent {
			if worth := x.s.scores[c]; worth > 0 {
				list = append(list, summand{int32(c), t, part * float64(worth)})
			}
			part *= share
		}
	}
	return list
}

// sumAlone leaves every category with what one term is worth to it.
func (x *explainer) sumAlone(term int32) {
	for _, c := range x.s.categories {
		x.s.scores[c] = 0
	}
	x.s.categories = x.s.categories[:0]
	x.sumTerm(x.s, term)
}

// titleSummands are the terms of a category's best phrase, and those that its
// ancestors' names have, too.
func (x *explainer) titleSummands(category int32) []summand {
	var list []summand
	if best, score := x.bestPhrase(category); score > 0 {
		for _, t := range x.s.terms {
			if slices.Contains(x.index.byTerm.at(t), best) {
				list = append(list, summand{category, t, score * x.worth(t) / float64(x.s.hits[best].overlap)})
			}
		}
	}
	for _, t := range x.index.ancestry.at(category) {
		if worth := contextWeight * x.worth(t); worth > 0 {
			list = append(list, summand{x.ancestorWith(category, t), t, worth})
		}
	}
	return list
}

// worth is a term's weighted idf.
func (x *explainer) worth(term int32) float64 {
	return float64(x.s.weight[term] * x.index.idf[term])
}

// bestPhrase returns the phrase that a category has its score of, and the score.
func (x *explainer) bestPhrase(category int32) (best int32, score float64) {
	for _, p := range x.s.phrases {
		phrase := &x.index.phrases[p]
		if phrase.category != category {
			continue
		}
		if worth := float64(phrase.score(&x.s.hits[p])); worth > score {
			best, score = p, worth
		}
	}
	return best, score
}

// ancestorWith returns the nearest ancestor whose name has a term.
func (x *explainer) ancestorWith(category, term int32) int32 {
	for p := x.taxonomy.Categories[category].Parent; p >= 0; p = x.taxonomy.Categories[p].Parent {
		for _, word := range Terms(x.taxonomy.Categories[p].Name) {
			if t, ok := x.index.vocabulary[word]; ok && t == term {
				return int32(p)
			}
		}
	}
	return category
}
