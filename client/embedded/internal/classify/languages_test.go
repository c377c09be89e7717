package classify

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

//go:embed testdata/languages.tsv
var titlesInLanguages string

var multilingual = sync.OnceValue(func() *Engine {
	e := New(taxonomy.Products())
	e.AddNames(taxonomy.Names)
	return e
})

func (e *Engine) languageOf(title string) string { return e.forTitle(title).index.language.Code }

// TestLanguages checks the share of titles whose top level is right.
func TestLanguages(t *testing.T) {
	e := multilingual()
	all, right := map[string]int{}, map[string]int{}
	for line := range strings.Lines(titlesInLanguages) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		code, title, want := fields[0], fields[1], fields[2]
		matches := e.matchTitle(title)
		explained, contributions := e.Explain(Input{Title: []Field{{Name: "title", Text: title}}}, 3)
		if got := best(e, explained); got != best(e, matches) {
			t.Errorf("%q is %s, but explained as %s", title, best(e, matches), got)
		}
		for _, c := range contributions {
			if c.Words == "" {
				t.Errorf("%q: a contribution to %s has no words", title, e.taxonomy.Categories[c.Category].Path)
			}
		}
		for _, language := range []string{code, ""} {
			all[language]++
			if got := best(e, matches); topOf(got) == topOf(want) {
				right[language]++
			} else if language != "" {
				t.Logf("%s as %s: %q is %q, want %q", code, e.languageOf(title), title, got, want)
			}
		}
	}
	for language, n := range all {
		least := 0.65
		if language == "" {
			least = 0.78
		}
		if share := float64(right[language]) / float64(n); share < least {
			t.Errorf("%q: the top level of %.2f of the titles is right, want %.2f", language, share, least)
		}
	}
}

// A word in the name of an ancestor counts for the ancestor, also in other languages.
func TestExplainAncestorInAnotherLanguage(t *testing.T) {
	e := multilingual()
	const title = "SwaddleMe - Manta original, talla S, de 0 a 3 meses"
	if got := e.languageOf(title); got != "es" {
		t.Fatalf("the language is %s", got)
	}
	_, contributions := e.Explain(Input{Title: []Field{{Name: "title", Text: title}}}, 3)
	const want = "Baby & Toddler > Swaddling & Receiving Blankets"
	if !slices.ContainsFunc(contributions, func(c Contribution) bool {
		return e.taxonomy.Categories[c.Speaker].Path == want && e.taxonomy.Categories[c.Category].Depth == 2
	}) {
		t.Errorf("contributions %+v, want one through %s", contributions, want)
	}
}

func topOf(path string) string {
	top, _, _ := strings.Cut(path, taxonomy.PathSeparator)
	return top
}

func TestLanguageOf(t *testing.T) {
	for title, want := range map[string]string{
		"Cast iron skillet 12 in":                      "en",
		"Nike Air Zoom Pegasus 39 men's running shoes": "en",
		"La Roche-Posay sunscreen":                     "en",
		"Netgear D1500":                                "en",
		"Eau de Parfum pour Homme spray 100 ml":        "en",
		"":                                             "en",
		"12 345 !!":                                    "en",
		"Schreibtisch weiß":                            "de",
		"Edelstahl-Wasserkocher mit Deckel":            "de",
		"Chaussures de randonnée imperméables pour homme":      "fr",
		"Toallas de algodón para baño":                         "es",
		"Scarpe da ginnastica per uomo bianche":                "it",
		"Roestvrijstalen waterkoker met deksel voor de keuken": "nl",
		"Sapatos masculinos de couro com sola":                 "pt",
		"Женское платье":                                       "ru",
		"メンズ 腕時計":                                              "ja",
		"平板电脑 保护套":                                             "zh",
	} {
		if got := multilingual().languageOf(title); got != want {
			t.Errorf("%q is %s, want %s", title, got, want)
		}
	}
}

// The words of other languages take half of the time of a short run.
func TestEnglishTitlesNeedNoOtherLanguage(t *testing.T) {
	e, read := New(taxonomy.Products()), false
	e.AddNames(func() map[string]map[string]string { read = true; return taxonomy.Names() })
	for _, title := range []string{"", "Cast iron skillet 12 in", "Hooks for the garden hose"} {
		if e.languageOf(title) != "en" || read {
			t.Errorf("%q is %s; the names are read: %t", title, e.languageOf(title), read)
		}
	}
	if e.languageOf("Schreibtisch weiß"); !read {
		t.Error("a German title needs no names")
	}
}
