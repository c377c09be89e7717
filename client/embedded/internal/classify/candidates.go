package classify

// MaxCandidates is the most candidates of a text.
const MaxCandidates = 8

// TitleCandidates returns up to MaxCandidates categories with the best scores for a product's title, the best first. Unlike
// Title, it includes categories of low confidence.
func (e *Engine) TitleCandidates(title string) []Match {
	e = e.forTitle(title)
	s := e.borrow()
	defer e.giveBack(s)
	e.scoreTitle(s, title)
	return e.candidates(s, MaxCandidates, &titleFit, 0)
}

// WebsiteCandidates is TitleCandidates for a website.
func (e *Engine) WebsiteCandidates(host string, path []string, page []Field) []Match {
	s := e.borrow()
	defer e.giveBack(s)
	fit := e.name
	if e.scoreWebsite(s, host, path, page) {
		fit = e.document
	}
	return e.candidates(s, MaxCandidates, fit, 0)
}

// Words calls take for each word in the first megabyte of a text, in lower case and without accents. The word is valid only
// during the call.
func Words(text string, take func(word []byte)) {
	var r reader
	for r.reset(text); r.next(); {
		take(r.word)
	}
}
