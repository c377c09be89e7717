package embedded

import (
	"strconv"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// The names of the classifications, which are also the members of the answers' JSON.
const (
	taxonomyV3Name      = "taxonomy_v3"
	naicsName           = "naics"
	productTaxonomyName = "product_taxonomy"
)

// classification is a taxonomy with the form of its answers.
type classification struct {
	name   string
	most   int // entries in one answer: websites have several topics, companies few industries
	engine func() *engine
}

func taxonomyV3() *classification {
	return &classification{taxonomyV3Name, 10, lazily(taxonomy.IAB, pathEntry)}
}

func naics() *classification {
	return &classification{naicsName, 3, lazily(taxonomy.NAICS, titledEntry)}
}

func productTaxonomy() *classification {
	return &classification{productTaxonomyName, 3, lazily(taxonomy.Products, pathEntry)}
}

// customs are classifications of products by custom taxonomies.
func customs(taxonomies []*taxonomy.Taxonomy) []*classification {
	list := make([]*classification, len(taxonomies))
	for i, t := range taxonomies {
		list[i] = &classification{t.Name, 3, lazily(func() *taxonomy.Taxonomy { return t }, pathEntry)}
	}
	return list
}

// engine is a classifier with the JSON of each category's entry up to the confidence.
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

// untilConfidence encodes an entry up to its last member, the confidence.
func untilConfidence(entry any) []byte {
	object := marshal(entry)
	return append(object[:len(object)-1], `,"confidence":`...)
}

// prediction is the classifier's result for one input, with the texts that the result depends on.
type prediction struct {
	matches []classify.Match
	cost    string // the value of CostHeader

	host   string           // a website's host name
	path   []string         // the words of a website's path
	fields []classify.Field // the fields of a website's page; nil without a page
	titles []classify.Part  // the titles of a product's URL; nil for a product title
}

// append appends the answer's JSON to b.
func (c *classification) append(b []byte, j prediction) []byte {
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
