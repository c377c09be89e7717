package classify

import (
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// TitlePart is a part of a title with the name of its source.
type TitlePart struct {
	Name string
	Text string
}

// Join joins parts with bars to one title.
func Join(parts []TitlePart) string {
	if len(parts) == 1 {
		return parts[0].Text
	}
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

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

// titleSources returns the sources of a title's terms, including terms of two words joined, as Engine.readTitle finds them.
func (e *Engine) titleSources(parts []TitlePart) map[int32]source {
	q := quoter{index: e.index, sources: make(map[int32]source)}
	left := maxTitleWords
	for i, p := range parts {
		if e.spaceless != nil {
			p.Text = e.spaceless.Separate(p.Text, false)
		}
		if i == 0 {
			brand := min(brandPrefix(Join(parts)), len(p.Text))
			q.readTitle(p.Name, p.Text[:brand], maxBrand) // a brand has fewer words than bytes
			p.Text = p.Text[brand:]
		}
		left -= q.readTitle(p.Name, p.Text, left)
	}
	return q.sources
}

// readTitle records the terms of up to most words, and returns the number of words.
func (q *quoter) readTitle(field, text string, most int) int {
	n, previous := 0, ""
	for q.reader.Reset(text); n < most && q.reader.Next(); n++ {
		r := &q.reader
		k := roleOf(r) | roleIn(q.index.language, r.Word)
		if r.Gap != 0 || k&(link|genitive) != 0 {
			previous = ""
		}
		if word := string(r.Word); k&(link|genitive|stopWord|noiseWord) == 0 {
			if previous != "" {
				q.addSource(q.index.lookup([]byte(previous+word)), previous+" "+word, field)
			}
			q.noteWord(word, field)
			previous = word
		}
	}
	return n
}

// websiteSources returns the sources of the terms of a website's name and page. names are the names of the page's fields.
func (e *Engine) websiteSources(host string, path []string, page []Field, names []string) map[int32]source {
	q := quoter{index: e.index, sources: make(map[int32]source)}
	words, domain := e.SplitHost(host)
	q.readText("host", strings.Join(words, " "), maxDocumentWords)
	q.readText("domain", domain, maxDocumentWords)
	q.readText("path", strings.Join(path, " "), maxDocumentWords)
	left := maxDocumentWords
	for i, f := range page {
		if f.Weight > 0 {
			left -= q.readText(names[i], f.Text, left)
		}
	}
	return q.sources
}

// readText records the terms of up to most words, and returns the number of words.
func (q *quoter) readText(field, text string, most int) int {
	n := 0
	for q.reader.Reset(text); n < most && q.reader.Next(); n++ {
		if word := string(q.reader.Word); !words.Stop[word] {
			q.noteWord(word, field)
		}
	}
	return n
}

// noteWord records the term of a word, or both terms of a compound.
func (q *quoter) noteWord(word, field string) {
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
