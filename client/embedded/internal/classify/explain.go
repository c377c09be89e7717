package classify

import (
	"cmp"
	"slices"
)

// Contribution is the part of a matched category's score that comes from some words.
type Contribution struct {
	Category int      // the matched category
	Speaker  int      // the category that has these words: Category, an ancestor, or a child that Category stands for
	Link     int      // the category of the linked taxonomy that has these words instead of Speaker; -1 for none
	Words    string   // as at their first place in the text, in lower case and without accents
	Fields   []string // the names of the fields that have the words
	Weight   float64  // of the category's score
	Share    float64  // Weight as a share of the score; the shares of a category add up to 1
	Seen     int      // with a model: the number of examples with the word and the class of the category; 0 for several words
}

// Explain returns the matches that Matches returns, and the contributions in the order of the matches, the largest weight of a
// match first. The words of a URL are in the fields "host" and "path", the meaning of the top-level domain in "domain".
func (e *Engine) Explain(in Input, limit int) ([]Match, []Contribution) {
	x := e.forInput(in).explainer(in)
	matches := x.candidates(x.s, limit, x.fit, LeastConfidence)
	if in.Title != nil && x.links != nil {
		return matches, x.linkedContributions(matches, in)
	}
	return matches, x.contributions(matches)
}

// linkedContributions returns the contributions of a category's own words, and of the words of its linked categories.
func (x *explainer) linkedContributions(matches []Match, in Input) (all []Contribution) {
	other := x.links.base.forInput(in).explainer(in)
	leaders, _ := other.best(Join(in.Title), mostLinked, leaderSharp)
	for _, m := range matches {
		category := int32(m.Category)
		left := float64(x.scored(category, false).score)
		var list []Contribution
		for _, leader := range leaders {
			for _, to := range x.links.to[leader.category] {
				if to.category != category {
					continue
				}
				worth := float64(leader.score * to.weight)
				left -= worth
				found := other.merge(m.Category, worth, other.titleSummands(leader.category))
				for i := range found {
					found[i].Speaker, found[i].Link = m.Category, int(leader.category)
				}
				list = append(list, found...)
			}
		}
		if summands := x.titleSummands(category); len(summands) > 0 && left > 0 {
			list = append(list, x.merge(m.Category, left, summands)...)
		}
		all = append(all, SetShares(list)...)
	}
	return all
}

// SetShares sets the shares of all contributions to a category, and sorts them, the largest first.
func SetShares(list []Contribution) []Contribution {
	total := 0.0
	for _, c := range list {
		total += c.Weight
	}
	for i := range list {
		list[i].Share = list[i].Weight / total
	}
	sortContributions(list)
	return list
}

func sortContributions(list []Contribution) {
	slices.SortStableFunc(list, func(a, b Contribution) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Words, b.Words))
	})
}

// explainer splits the scores of a text into parts. Its scratch does not return to the pool, because clear cannot reset it
// afterwards.
type explainer struct {
	*Engine
	s       *scratch
	fit     *calibration
	ranked  []ranked // before parents replaced children
	sources map[int32]source
}

// explainer returns the explainer of an input, whose language is the engine's.
func (e *Engine) explainer(in Input) *explainer {
	s := newScratch(e.index, len(e.taxonomy.Categories))
	fit := e.score(s, in)
	return &explainer{Engine: e, s: s, fit: fit, ranked: slices.Clone(s.ranked), sources: e.sources(in)}
}

// summand is the part of a score that comes from a term, before it is scaled.
type summand struct {
	speaker int32
	term    int32
	worth   float64
}

// contributions scales the summands of each match to the match's score.
func (x *explainer) contributions(matches []Match) []Contribution {
	var all []Contribution
	for i, m := range matches {
		r := x.scored(int32(m.Category), i == 0)
		all = append(all, x.merge(m.Category, float64(r.score), x.summands(r.category))...)
	}
	return all
}

// scored returns the category whose score a match has, and the score: the match itself, or the best child if the first match is
// a parent that replaced its children.
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

// merge joins summands with the same words and speaker to one contribution.
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
			list = append(list, Contribution{Category: category, Speaker: int(v.speaker), Link: noCategory, Words: from.words, Fields: from.fields})
		}
		list[i].Share += v.worth / total
		list[i].Weight += v.worth / total * score
	}
	sortContributions(list)
	return list
}

// summands returns the parts of the terms in a category's score.
func (x *explainer) summands(category int32) []summand {
	switch x.fit {
	case x.document:
		return x.websiteSummands(category, inherited)
	case x.name:
		return x.websiteSummands(category, inheritedByName)
	}
	return x.titleSummands(category)
}

// websiteSummands returns the parts of the terms in a category's score, including its ancestors' parts.
func (x *explainer) websiteSummands(category int32, share float64) []summand {
	var list []summand
	for _, t := range x.s.terms.set {
		x.s.scores.clear()
		x.sumTerm(x.s, t)
		part := 1.0
		for c := int(category); c >= 0; c = x.taxonomy.Categories[c].Parent {
			if worth := x.s.scores.value[c]; worth > 0 {
				list = append(list, summand{int32(c), t, part * float64(worth)})
			}
			part *= share
		}
	}
	return list
}

// titleSummands returns the parts of the terms of a category's best phrase and of its ancestors' names.
func (x *explainer) titleSummands(category int32) []summand {
	var list []summand
	if best := x.s.best[category] - 1; best >= 0 {
		for _, t := range x.s.terms.set {
			if slices.Contains(x.index.byTerm[t], best) {
				list = append(list, summand{category, t, float64(x.s.scores.value[category]) * x.weightedIDF(t) / float64(x.s.hits[best].overlap)})
			}
		}
	}
	for _, t := range x.index.ancestry[category] {
		if worth := contextWeight * x.weightedIDF(t); worth > 0 {
			list = append(list, summand{x.ancestorWith(category, t), t, worth})
		}
	}
	return list
}

func (x *explainer) weightedIDF(term int32) float64 {
	return float64(x.s.terms.value[term] * x.index.idf[term])
}

// ancestorWith returns the nearest ancestor whose name has a term.
func (x *explainer) ancestorWith(category, term int32) int32 {
	for p := x.taxonomy.Categories[category].Parent; p >= 0; p = x.taxonomy.Categories[p].Parent {
		if slices.Contains(x.index.names[p], term) {
			return int32(p)
		}
	}
	return category
}
