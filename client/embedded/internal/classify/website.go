package classify

import "github.com/bulkcat/bulkcat/client/embedded/internal/words"

const (
	hostWeight   = 2 // a name is short, and chosen for the site's subject
	domainWeight = 1 // a top-level domain has many sites
	pathWeight   = 1

	// inheritedByName replaces inherited for a name without a page: among few words, a word that the parent has, too, is more
	// reliable.
	inheritedByName = 1.2
)

// scoreWebsite ranks the categories for a website, and reports whether there
// was a page to read.
func (e *Engine) scoreWebsite(s *scratch, host string, path []string, page []Field) bool {
	hasPage := e.readFields(s, page)
	words, domain := e.SplitHost(host)
	previous := int32(noTerm)
	for _, word := range words {
		previous = e.readName(s, word, hostWeight*trust(word), previous)
	}
	s.nameHead = previous
	s.domain = e.readName(s, domain, domainWeight, noTerm)
	previous = noTerm
	for _, word := range path {
		previous = e.readName(s, word, pathWeight, previous)
	}
	e.saturate(s)
	e.sumPhrases(s)
	if hasPage {
		s.name = s.name[:0] // with a page, the name adds no evidence
		e.rankSums(s, inherited)
	} else {
		e.rankSums(s, inheritedByName)
		e.raiseParents(s)
	}
	return hasPage
}

// trustInLength is the weight of a host's word by its number of letters: short words are often
// parts of other words ("tote" in "casinototek").
var trustInLength = [...]float32{0, 0.1, 0.1, 0.5, 0.8}

func trust(word string) float32 {
	if len(word) < len(trustInLength) {
		return trustInLength[len(word)]
	}
	return 1
}

// raiseParents raises an ancestor that matches as well as its descendant to the descendant's score. The ancestor then comes
// first: "petshop" is about pets in general.
func (e *Engine) raiseParents(s *scratch) {
	for _, r := range s.ranked {
		for p := e.taxonomy.Categories[r.category].Parent; p >= 0; p = e.taxonomy.Categories[p].Parent {
			if s.scores.value[p] >= s.scores.value[r.category] {
				s.raised[p] = max(s.raised[p], r.score)
			}
		}
	}
	for i := range s.ranked {
		r := &s.ranked[i]
		r.score = max(r.score, s.raised[r.category])
	}
}

// readName counts a word of a name, and adds it to s.name. It returns the word's term.
func (e *Engine) readName(s *scratch, word string, weight float32, previous int32) int32 {
	s.reader.Reset(word)
	for s.reader.Next() {
		s.words++
		if words.Stop[string(s.reader.Word)] {
			continue
		}
		letters := len(s.reader.Word)
		previous = e.count(s, s.reader.Word, weight, previous)
		s.name = append(s.name, nameWord{previous, letters})
	}
	return previous
}
