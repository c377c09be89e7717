package embedded

import (
	"strconv"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// The names of the classifications, which are also the members they answer in.
const (
	taxonomyV3Name      = "taxonomy_v3"
	naicsName           = "naics"
	productTaxonomyName = "product_taxonomy"
)

// classification is one way to categorize: a taxonomy, and how it is answered.
type classification struct {
	name   string
	most   int // entries in one answer
	engine func() *engine
}

// A website is about several things at several depths, so that taxonomy_v3 has
// long lists; a company has one main business, and perhaps two others; a product is
// one thing.

func taxonomyV3() *classification {
	return &classification{taxonomyV3Name, 10, lazily(taxonomy.IAB, pathEntry)}
}

func naics() *classification {
	return &classification{naicsName, 3, lazily(taxonomy.NAICS, titledEntry)}
}

func productTaxonomy() *classification {
	return &classification{productTaxonomyName, 3, lazily(taxonomy.Products, pathEntry)}
}

// customs are classifications of products, too.
func customs(taxonomies []*taxonomy.Taxonomy) []*classification {
	list := make([]*classification, len(taxonomies))
	for i, t := range taxonomies {
		list[i] = &classification{t.Name, 3, lazily(func() *taxonomy.Taxonomy { return t }, pathEntry)}
	}
	return list
}

// engine is a classifier with the entries of its answers, each encoded up to
// its confidence.
type engine struct {
	*classify.Engine
	entries [][]byte
}

func lazily(load func() *taxonomy.Taxonomy, entry func(taxonomy.Category) []byte) func() *engine {
	return sync.OnceValue(func() *engine {
		t := load()
		e := &engine{Engine: classify.New(t), entries: make([][]byte, len(t.Categories))}
		for i, category := range t.Categories {
			e.entries[i] = entry(category)
		}
		return e
	})
}

func pathEntry(c taxonomy.Category) []byte {
	return untilConfidence(struct {
		Value string `json:"value"`
	}{c.Path})
}

func titledEntry(c taxonomy.Category) []byte {
	return untilConfidence(struct {
		Title string `json:"title"`
		Value string `json:"value"`
	}{c.Title, c.Code})
}

// untilConfidence encodes an entry and leaves it open for its last member.
func untilConfidence(entry any) []byte {
	object := marshal(entry)
	return append(object[:len(object)-1], `,"confidence":`...)
}

// judgement is what was found out about one input, and what it was judged by.
type judgement struct {
	matches []classify.Match
	cost    string // the value of CostHeader

	host   string           // of a website
	path   []string         // of a website: the words
	fields []classify.Field // of a website's page, if there is one
	titles []classify.Part  // of a product's URL; a title is judged as it is
}

// append appends the answer, the classification's member with its entries.
func (c *classification) append(b []byte, j judgement) []byte {
	entries := c.engine().entries
	b = append(b, `{"`...)
	b = append(b, c.name...)
	b = append(b, `":[`...)
	for i, match := range j.matches {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, entries[match.Category]...)
		b = strconv.AppendFloat(b, match.Confidence, 'f', -1, 64)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}
