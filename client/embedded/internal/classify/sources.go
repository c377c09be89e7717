package classify

import (
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// source is the position of a term in a text.
type source struct {
	words  string // as at their first place in the text, folded
	fields []string
}

// quoter finds the sources of terms. It reads a text as the scoring does.
type quoter struct {
	index   *index
	reader  words.Reader
	sources map[int32]source
}

// sources returns the sources of an input's terms. In titles it includes terms of two words joined, as Engine.readTitle finds them.
func (e *Engine) sources(in Input) map[int32]source {
	q := quoter{index: e.index, sources: make(map[int32]source)}
	left := maxTitleWords
	for i, p := range in.Title {
		if e.spaceless != nil {
			p.Text = e.spaceless.Separate(p.Text, false)
		}
		if i == 0 {
			brand := min(brandPrefix(Join(in.Title)), len(p.Text))
			q.read(p.Name, p.Text[:brand], maxBrand, skippedInTitle) // a brand has fewer words than bytes
			p.Text = p.Text[brand:]
		}
		left -= q.read(p.Name, p.Text, left, skippedInTitle)
	}
	if in.Title != nil {
		return q.sources
	}
	words, domain := e.SplitHost(in.Host)
	q.read("host", strings.Join(words, " "), MaxDocumentWords, stopWord)
	q.read("domain", domain, MaxDocumentWords, stopWord)
	q.read("path", strings.Join(in.Path, " "), MaxDocumentWords, stopWord)
	left = MaxDocumentWords
	for _, f := range in.Page {
		if f.Weight > 0 {
			left -= q.read(f.Name, f.Text, left, stopWord)
		}
	}
	return q.sources
}

// read records the terms of up to most words, except words with a skipped role, and returns the number of words.
func (q *quoter) read(field, text string, most int, skipped role) int {
	n, previous := 0, ""
	for q.reader.Reset(text); n < most && q.reader.Next(); n++ {
		k := roleOf(&q.reader) | roleIn(q.index.language, q.reader.Word)
		if q.reader.Gap != 0 || k&(link|genitive) != 0 {
			previous = ""
		}
		if k&skipped != 0 {
			continue
		}
		word := string(q.reader.Word)
		if previous != "" {
			q.addSource(q.index.lookup([]byte(previous+word)), previous+" "+word, field)
		}
		q.addWord(word, field)
		if skipped == skippedInTitle {
			previous = word
		}
	}
	return n
}

// skippedInTitle are the roles of words in titles that are no terms.
const skippedInTitle = link | genitive | stopWord | noiseWord

// addWord records the term of a word, or both terms of a compound.
func (q *quoter) addWord(word, field string) {
	first, t := q.index.resolve([]byte(word))
	q.addSource(first, word, field)
	q.addSource(t, word, field)
}

// addSource records the first place of a term, and all its fields.
func (q *quoter) addSource(term int32, words, field string) {
	if term == noTerm {
		return
	}
	s, ok := q.sources[term]
	if !ok {
		s.words = words
	}
	if !slices.Contains(s.fields, field) {
		s.fields = append(s.fields, field)
	}
	q.sources[term] = s
}
