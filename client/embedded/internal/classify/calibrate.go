package classify

import (
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Evidence is the variables of one entry's confidence, for command calibrate.
type Evidence struct {
	Path   string   // of the entry's category, or its code
	Values evidence // by variable
}

// EvidenceOf returns a function that returns the evidence of a text's first three entries, the best first, with any confidence.
// fit is the name of a calibration in confidence.go. It determines the kind of text: a title (titleFit), a host name (nameFit,
// companyNameFit), a page ("URL ||| text" or a text, pageFit) or a company ("name ||| description", companyFit).
func EvidenceOf(fit string) (func(text string) []Evidence, error) {
	var score func(e *Engine, s *scratch, text string)
	load := taxonomy.IAB
	switch fit {
	case "titleFit":
		load, score = taxonomy.Products, (*Engine).scoreTitle
	case "pageFit":
		score = scorePage
	case "companyFit":
		load, score = taxonomy.NAICS, scoreCompany
	case "companyNameFit":
		load, score = taxonomy.NAICS, scoreName
	case "nameFit":
		score = scoreName
	default:
		return nil, fmt.Errorf("there is no calibration %q", fit)
	}
	e := New(load())
	return func(text string) []Evidence {
		s := e.borrow()
		defer e.giveBack(s)
		score(e, s, text)
		leaders := e.leaders(s)
		var found []Evidence
		for i := range leaders[:min(3, len(leaders))] {
			found = append(found, Evidence{e.taxonomy.Categories[leaders[i].category].Path, e.evidence(s, leaders, i)})
		}
		return found
	}, nil
}

func scoreName(e *Engine, s *scratch, host string) { e.scoreWebsite(s, host, nil, nil) }

func scorePage(e *Engine, s *scratch, text string) {
	url, body, ok := strings.Cut(text, " ||| ")
	if !ok {
		url, body = "", text
	}
	_, host, _ := strings.Cut(url, "://")
	host, _, _ = strings.Cut(host, "/")
	e.scoreWebsite(s, host, nil, []Field{{body, 1}})
}

func scoreCompany(e *Engine, s *scratch, text string) {
	name, body, _ := strings.Cut(text, " ||| ")
	e.scoreWebsite(s, "", nil, []Field{{name, 3}, {body, 1}})
}
