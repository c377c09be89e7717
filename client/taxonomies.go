package client

import "slices"

// taxonomies has the default of each kind first. A new taxonomy needs an entry here, one in codes if its values are codes, and,
// for the embedded service, one in taxonomy.Editions.
var taxonomies = map[Kind][]string{
	Website: {TaxonomyV3, NAICS},
	Product: {ProductTaxonomy},
}

var codes = map[string]func(levels []string, code string, most int) []string{NAICS: digitLevels}

// The classifications that every service has. Products may also have custom classifications, whose names
// start with CustomPrefix; their values are paths.
const (
	TaxonomyV3      = "taxonomy_v3"
	NAICS           = "naics"
	ProductTaxonomy = "product_taxonomy"
	CustomPrefix    = ProductTaxonomy + "_custom_"
)

// Classifications returns the classifications of a kind that every service has, the default first. A kind that is not Known has
// the classifications of products.
func Classifications(kind Kind) []string {
	if !kind.Known() {
		kind = Product
	}
	return slices.Clone(taxonomies[kind])
}

// Codes returns the classifications whose values are codes, each of which has a title. The values of other classifications are
// paths of levels separated by " > ". The function of a classification appends up to most levels of a code, from the top, to
// levels. The map is shared and must not be modified.
func Codes() map[string]func(levels []string, code string, most int) []string { return codes }

// digitLevels appends the levels of a code of NAICS: its first 2, 3, ... digits. In sectors that span several numbers, such as
// "31-33", only the digits before the hyphen count.
func digitLevels(levels []string, code string, most int) []string {
	digits := 0
	for digits < len(code) && '0' <= code[digits] && code[digits] <= '9' {
		digits++
	}
	for k := 2; k <= min(most+1, digits); k++ {
		levels = append(levels, code[:k])
	}
	return levels
}
