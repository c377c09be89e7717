package taxonomy

import (
	_ "embed" // the outlines below
	"sync"
)

// Category is one node of a taxonomy.
type Category struct {
	ID      string   // the publisher's, which other systems know; "" if it has none
	Code    string   // NAICS code such as "541511" or "31-33"; "" elsewhere
	Name    string   // the category's own name, without its ancestors
	Path    string   // the value answered: "A > B > C", or the code for NAICS
	Title   string   // NAICS title; "" elsewhere
	Parent  int      // index of the parent in Categories, -1 at the top level
	Depth   int      // 0 at the top level
	Aliases []string // other phrases for the category, nil if there are none
}

// Taxonomy is a forest of categories. It is shared and must not be modified.
type Taxonomy struct {
	Name       string
	Categories []Category // parents before their children
}

//go:embed iab.txt
var iabText string

//go:embed products.txt
var productsText string

//go:embed products.aliases.txt
var productsAliases string

//go:embed naics.txt
var naicsText string

//go:embed naics.aliases.txt
var naicsAliases string

var (
	iab      = sync.OnceValue(func() *Taxonomy { return load("taxonomy_v3", "iab", iabText, "") })
	products = sync.OnceValue(func() *Taxonomy { return load("product_taxonomy", "products", productsText, productsAliases) })
	naics    = sync.OnceValue(func() *Taxonomy { return load("naics", "naics", naicsText, naicsAliases) })
)

// IAB returns the IAB Content Taxonomy 3.0, 703 categories.
func IAB() *Taxonomy { return iab() }

// Products returns the product taxonomy of 2019-07-10, 5,582 categories.
func Products() *Taxonomy { return products() }

// NAICS returns the 2022 edition of NAICS, 2,125 codes from the two-digit sectors
// to the six-digit industries.
func NAICS() *Taxonomy { return naics() }

// load parses an outline and its overlay. Both are part of the program and tested, so an error is
// a fault of the build.
func load(name, file, outline, overlay string) *Taxonomy {
	categories, err := Parse(file+".txt", outline)
	if err == nil && overlay != "" {
		err = Overlay(categories, file+".aliases.txt", overlay)
	}
	if err != nil {
		panic(err)
	}
	return &Taxonomy{Name: name, Categories: categories}
}
