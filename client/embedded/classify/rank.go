package classify

import (
	"cmp"
	"math"
	"slices"
)

const (
	tie      = 0.995 // of the best score: what counts as equal
	runnerUp = 0.3   // of the best score: what is still worth an answer

	leastTitle    = 1.5 // score: below it hardly one title in ten is right
	leastDocument = 0.3

	// Scores at which an answer is as often right as wrong.
	evenTitle    = 9
	evenDocument = 5
)

// answer returns the best of the ranked categories. confidence is 0 for scores
// that are too low to answer.
func (e *Engine) answer(s *scratch, limit int, confidence func(float32) float64) []Match {
	slices.SortFunc(s.ranked, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.category, b.category))
	})
	list := e.promote(s.ranked)
	n := 0
	for n < min(limit, len(list)) && list[n].score >= runnerUp*list[0].score && confidence(list[n].score) > 0 {
		n++
	}
	if n == 0 {
		return nil
	}
	matches := make([]Match, n)
	for i, r := range list[:n] {
		matches[i] = Match{int(r.category), confidence(r.score)}
	}
	return matches
}

// promote puts a parent in the place of children of it that lead with the same
// score: the text tells what they share, and not what parts them.
func (e *Engine) promote(list []ranked) []ranked {
	if len(list) < 2 {
		return list
	}
	best := list[0].score
	parent := e.taxonomy.Categories[list[0].category].Parent
	n := 0
	for n < len(list) && list[n].score >= tie*best && e.taxonomy.Categories[list[n].category].Parent == parent {
		n++
	}
	if n < 2 || parent < 0 {
		return list
	}
	rest := slices.DeleteFunc(list[n:], func(r ranked) bool { return int(r.category) == parent })
	list[n-1] = ranked{int32(parent), best}
	return list[n-1 : n+len(rest)]
}

// titleConfidence rises steeply around evenTitle: scores of titles are close to
// each other, being made of one phrase.
func titleConfidence(score float32) float64 {
	if score < leastTitle {
		return 0
	}
	cube := math.Pow(float64(score)/evenTitle, 3)
	return round(cube / (1 + cube))
}

// documentConfidence rises slowly: scores of documents grow with their length.
func documentConfidence(score float32) float64 {
	if score < leastDocument {
		return 0
	}
	return round(float64(score) / (float64(score) + evenDocument))
}

// round keeps four decimals, so that the last bits of floating-point arithmetic,
// which may differ between processors, do not show.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
