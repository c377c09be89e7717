package classify

// MaxCandidates is the most candidates of a text.
const MaxCandidates = 8

// TitleCandidates returns the categories with the best scores for a product's title, the best first, with
// their confidences: also those that Title leaves out.
func (e *Engine) TitleCandidates(title string) []Match {
	e = e.forTitle(title)
	s := e.borrow()
	defer e.giveBack(s)
	e.scoreTitle(s, title)
	return e.candidates(s, MaxCandidates, &titleFit, 0)
}

// WebsiteCandidates returns the categories with the best scores for a website, as TitleCandidates does for a title.
func (e *Engine) WebsiteCandidates(host string, path []string, page []Field) []Match {
	s := e.borrow()
	defer e.giveBack(s)
	fit := e.name
	if e.scoreWebsite(s, host, path, page) {
		fit = e.document
	}
	return e.candidates(s, MaxCandidates, fit, 0)
}

// Words calls take with the words of a text in their order: folded to lower case and without accents. The
// word is valid during the call. It reads the first megabyte of the text.
func Words(text string, take func(word []byte)) {
	var r reader
	for r.reset(text); r.next(); {
		take(r.word)
	}
}
