package embedded

import (
	"strconv"
	"sync"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// classification is a taxonomy with the form of its answers.
type classification struct {
	name   string
	most   int // entries in one answer
	engine func() *engine
	model  *learn.Model // nil: the engine answers alone
}

// published returns the classifications of a kind that every service has, in the chosen editions, or else in the default
// editions.
func published(kind client.Kind, editions taxonomy.Choice) (list []*classification) {
	for _, name := range client.Classifications(kind) {
		if e, ok := editions.Of(name); ok {
			list = append(list, &classification{name: name, most: e.Entries, engine: lazily(e)})
		}
	}
	return list
}

// customs returns the classifications of custom taxonomies.
func customs(taxonomies []*taxonomy.Custom) []*classification {
	list := make([]*classification, len(taxonomies))
	for i, t := range taxonomies {
		list[i] = &classification{name: t.Name, most: 3, engine: sync.OnceValue(func() *engine { return linked(&t.Taxonomy) })}
	}
	return list
}

// linked makes the engine of a custom taxonomy, and links it to the default edition of the product taxonomy, as Category.Linked does.
func linked(t *taxonomy.Taxonomy) *engine {
	e := newEngine(t)
	e.LinkTo(builtin())
	return e
}

// engine is a classifier with the JSON of each category's entry up to the confidence.
type engine struct {
	*classify.Engine
	entries [][]byte
}

// engines maps the name and version of an edition to a function that builds the edition's engine at the first call. All services
// of a process share the engines.
var engines sync.Map

// lazily returns a function that builds the engine of an edition at the first call.
func lazily(edition taxonomy.Edition) func() *engine {
	once, _ := engines.LoadOrStore([2]string{edition.Name, edition.Version}, sync.OnceValue(func() *engine {
		e := newEngine(edition.Load())
		if edition.Names != nil {
			e.AddNames(edition.Names)
		}
		return e
	}))
	return once.(func() *engine)
}

func newEngine(t *taxonomy.Taxonomy) *engine {
	e := &engine{Engine: classify.New(t), entries: make([][]byte, len(t.Categories))}
	for i, category := range t.Categories {
		e.entries[i] = untilConfidence(category)
	}
	return e
}

// builtin is the engine of the default edition of the product taxonomy. Its answers are features of the models of custom taxonomies.
func builtin() *classify.Engine {
	e, _ := taxonomy.EditionOf(client.ProductTaxonomy)
	return lazily(e)().Engine
}

// untilConfidence encodes the entry of a category up to its last member, the confidence. Paths have no title.
func untilConfidence(c taxonomy.Category) []byte {
	object := marshal(struct {
		Title string `json:"title,omitempty"`
		Value string `json:"value"`
	}{c.Title, c.Path})
	return append(object[:len(object)-1], `,"confidence":`...)
}

// prediction is the result for one input.
type prediction struct {
	classify.Input
	matches []classify.Match
	cost    string // the value of CostHeader
	basis   client.Basis
	unread  bool // the page could not be read
	local   bool // the page is at an address of the local network, which is never read, so the answer is not charged
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
