package taxonomy

import (
	"embed"
	"errors"
	"slices"
	"strings"
	"sync"
)

// Edition is an edition of a published taxonomy.
type Edition struct {
	Name      string // of the classification, such as "naics"
	Version   string // such as "3.1"
	Published string // the publisher's name and version of the taxonomy
	Entries   int    // most entries of an answer: websites have several topics, companies few industries
	Load      func() *Taxonomy
	Names     func() map[string]map[string]string // names in other languages, by language and id; nil for none
}

// editions are all editions. The default of each classification precedes its other editions. A new taxonomy needs an entry
// here, an outline, and an entry in package client. A new edition needs an entry and a file of changes.
var editions = []Edition{
	{"taxonomy_v3", "3.0", "IAB Tech Lab Content Taxonomy 3.0", 10, outline("taxonomy_v3", "iab.txt"), nil},
	{"taxonomy_v3", "3.1", "IAB Tech Lab Content Taxonomy 3.1", 10, outline("taxonomy_v3", "iab.txt", "iab.3.1.txt"), nil},
	{"naics", "2022", "North American Industry Classification System 2022", 3, outline("naics", "naics.txt"), nil},
	{"product_taxonomy", "2019-07-10", "Google product taxonomy, version 2019-07-10", 3, outline("product_taxonomy", "products.txt"), Names},
	{"product_taxonomy", "2021-09-21", "Google product taxonomy, version 2021-09-21", 3, outline("product_taxonomy", "products.txt", "products.2021.txt"), Names},
}

//go:embed *.txt
var outlines embed.FS

// outline returns a function that loads an outline at the first call.
func outline(name, file string, changes ...string) func() *Taxonomy {
	return sync.OnceValue(func() *Taxonomy { return load(name, file, changes...) })
}

// load reads an outline and its overlay, if there is one, and applies the changes of a later edition. It panics on an error,
// because all files are embedded and tested.
func load(name, file string, changes ...string) *Taxonomy {
	f := newForest()
	overlay := strings.TrimSuffix(file, ".txt") + ".aliases.txt"
	err := errors.Join(f.readOutline(file, content(file), false), f.readOutline(overlay, content(overlay), true))
	for _, file := range changes {
		err = errors.Join(err, f.change(file, content(file)))
	}
	if err != nil {
		panic(err)
	}
	categories, _ := f.categories()
	return &Taxonomy{Name: name, Categories: categories}
}

// content returns the text of an embedded file; "" if there is none.
func content(file string) string {
	text, _ := outlines.ReadFile(file)
	return string(text)
}

// Editions returns all editions.
func Editions() []Edition { return editions }

// EditionOf returns the default edition of a classification; false if there is none.
func EditionOf(classification string) (Edition, bool) { return Choice(editions).Given(classification) }

// Choice is a list of editions that replace the default editions of their classifications.
type Choice []Edition

// Given returns the chosen edition of a classification; false if none is chosen.
func (c Choice) Given(classification string) (Edition, bool) {
	i := slices.IndexFunc(c, func(e Edition) bool { return e.Name == classification })
	if i < 0 {
		return Edition{}, false
	}
	return c[i], true
}

// Of returns the chosen edition of a classification, or else the default edition; false if there is none.
func (c Choice) Of(classification string) (Edition, bool) {
	if e, ok := c.Given(classification); ok {
		return e, true
	}
	return EditionOf(classification)
}

// Taxonomy gives the taxonomy of a classification: a custom taxonomy, or the embedded copy of a published one, which hosted
// services also use; nil for others.
func (c Choice) Taxonomy(classification string, custom []*Custom) *Taxonomy {
	for _, t := range custom {
		if t.Name == classification {
			return &t.Taxonomy
		}
	}
	if edition, ok := c.Of(classification); ok {
		return edition.Load()
	}
	return nil
}

// Versions returns the versions of the classifications' editions that are not default editions, separated by commas.
func (c Choice) Versions(classifications []string) string {
	var versions []string
	for _, name := range classifications {
		if e, ok := c.Of(name); ok && !e.IsDefault() {
			versions = append(versions, e.Version)
		}
	}
	return strings.Join(versions, ",")
}

// IsDefault reports whether the edition is the default edition of its classification.
func (e Edition) IsDefault() bool {
	first, _ := EditionOf(e.Name)
	return first.Version == e.Version
}

// EditionWith returns the edition of a classification with a [Custom.Fingerprint]; false if there is none.
func EditionWith(classification, fingerprint string) (Edition, bool) {
	for _, e := range editions {
		if e.Name == classification && (&Custom{Taxonomy: *e.Load()}).Fingerprint() == fingerprint {
			return e, true
		}
	}
	return Edition{}, false
}

// Published returns the default edition of a classification; nil if there is none.
func Published(classification string) *Taxonomy {
	return Choice(nil).Taxonomy(classification, nil)
}

// IAB returns the IAB Content Taxonomy 3.0, 703 categories.
func IAB() *Taxonomy { return Published("taxonomy_v3") }

// Products returns the product taxonomy of 2019-07-10, 5,582 categories.
func Products() *Taxonomy { return Published("product_taxonomy") }

// NAICS returns the 2022 edition of NAICS, 2,125 codes from the two-digit sectors
// to the six-digit industries.
func NAICS() *Taxonomy { return Published("naics") }

// Levels is the number of levels of the deepest category; 0 for an empty taxonomy.
func (t *Taxonomy) Levels() int {
	levels := 0
	for i := range t.Categories {
		levels = max(levels, t.Categories[i].Depth+1)
	}
	return levels
}
