package report

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// tally counts the rows of an output.
type tally struct {
	rows, records int64
	classes       []*class // in the order of their first rows
	byName        map[string]*class
	record        int64 // of the last group
}

// class counts the rows of a classification.
type class struct {
	Classification // without what result adds
	statuses       map[writer.Status]*Coverage
	root           Category
	paths          map[string][]*Category // by value: the categories of all levels, from level 1
	low, close     lowest
	custom         bool            // a custom taxonomy, whose ids are unknown
	titles         *taxonomy.Index // has the titles of codes; nil for none
}

// add counts the rows of a group.
func (t *tally) add(g *readback.Group) {
	first := &g.Rows[0]
	if g.First || first.Record != t.record {
		t.records++
	}
	t.rows, t.record = t.rows+g.InFile, first.Record
	c := t.class(first.Classification)
	c.Records++
	n := c.statuses[first.Status]
	if n == nil {
		n = &Coverage{Status: writer.Status(strings.Clone(string(first.Status))), byKind: make(map[string]*ErrorGroup)}
		c.statuses[n.Status] = n
	}
	if n.Records++; first.Value == "" && first.Error != "" {
		n.reason(first)
	}
	var main, second entry // the categories of the highest confidence
	for i := range g.Rows {
		row := &g.Rows[i]
		if row.Value == "" {
			continue
		}
		if e := c.entry(row); main.less(e) {
			main, second = e, main
		} else if second.less(e) {
			second = e
		}
	}
	if main.row != nil {
		c.end(main, second)
	}
}

// entry is a row with a category; the zero value is none. path has the category and the categories above it.
type entry struct {
	path []*Category
	row  *writer.Row
}

// less reports whether e has a lower confidence than other. An unknown confidence is lower than all others.
func (e entry) less(other entry) bool {
	return e.row == nil || cmp.Less(e.row.Confidence, other.row.Confidence) // NaN is below all numbers
}

// class returns the counts of a classification.
func (t *tally) class(name string) *class {
	c := t.byName[name]
	if c == nil {
		c = &class{
			Classification: Classification{Name: strings.Clone(name), Confidence: Distribution{Bins: make([]int64, confidenceBins)}}, statuses: make(map[writer.Status]*Coverage), paths: make(map[string][]*Category),
			custom: strings.HasPrefix(name, "product_taxonomy_custom"),
		}
		c.low.examples, c.close.examples = []Example{}, []Example{}
		if published := taxonomy.Published(name); published != nil && readback.IsCoded(name) {
			c.titles = taxonomy.NewIndex(published)
		}
		t.byName[c.Name], t.classes = c, append(t.classes, c)
	}
	return c
}

// entry counts a row with a category.
func (c *class) entry(row *writer.Row) entry {
	path := c.path(row)
	for _, k := range path {
		k.Rows++
	}
	if x := row.Confidence; !(x >= 0 && x <= 1) || !c.custom && row.CategoryID == "" {
		c.drift(row)
	}
	return entry{path, row}
}

// path returns the categories of a row.
func (c *class) path(row *writer.Row) (path []*Category) {
	value := row.Value
	if c.paths[value] == nil && len(c.paths) >= mostCategories {
		value = others
	}
	if path = c.paths[value]; path != nil {
		return path
	}
	value = strings.Clone(value) // a substring would keep the whole record in memory
	parent := &c.root
	for _, name := range readback.Levels(c.Name, value) {
		k := parent.below[name]
		if k == nil {
			k = parent.add(name, readback.IsCoded(c.Name))
			if c.titles != nil {
				found, _ := c.titles.Find(name)
				k.Title = found.Title
			}
		}
		path, parent = append(path, k), k
	}
	if row.Title != "" {
		parent.Title = strings.Clone(row.Title)
	}
	c.paths[value] = path
	return path
}

// add adds a category below k. code says that names are codes, and not parts of a path.
func (k *Category) add(name string, code bool) *Category {
	below := &Category{Name: name, Path: name}
	if k.Path != "" && !code {
		below.Path = k.Path + " > " + name
	}
	if k.below == nil {
		k.below = make(map[string]*Category)
	}
	k.below[name] = below
	return below
}

// end counts the main category of a record, and keeps the record as an example.
func (c *class) end(main, second entry) {
	x := main.row.Confidence
	known := !math.IsNaN(x)
	for _, k := range main.path {
		if k.Records++; known {
			k.sum, k.known = k.sum+x, k.known+1
		}
	}
	if top := main.path[0]; top.first == nil {
		e := exampleOf(main.row)
		top.first = &e
	}
	switch d := &c.Confidence; {
	case !known:
		d.Missing++
	case x < 0 || x > 1:
		d.Outside++
	default:
		d.Bins[min(int(x*confidenceBins+1e-9), confidenceBins-1)]++ // 1e-9, because 0.15*20 is less than 3 in floating point
	}
	c.low.add(x, func() Example { return exampleOf(main.row) })
	if second.row == nil {
		return
	}
	c.close.add(x-second.row.Confidence, func() Example {
		e := exampleOf(main.row)
		e.Second = &Second{strings.Clone(second.row.Value), second.row.Confidence}
		return e
	})
}

// drift counts a row that departs from the interface.
func (c *class) drift(row *writer.Row) {
	d := &c.Look.Drift
	if x := row.Confidence; x >= 0 && x <= 1 {
		d.Category++
	} else {
		d.Confidence++
	}
	if len(d.Examples) < mostExamples {
		d.Examples = append(d.Examples, exampleOf(row))
	}
}

// exampleOf returns the record of a row with a category as an example. It copies the texts: see path.
func exampleOf(row *writer.Row) Example {
	e := Example{Record: row.Record, Input: strings.Clone(row.Input), Value: strings.Clone(row.Value)}
	if x := row.Confidence; !math.IsNaN(x) {
		e.Confidence = &x
	}
	return e
}

// reason counts the error of a record without a category.
func (c *Coverage) reason(row *writer.Row) {
	said := withoutPlace(row.Error)
	key := kindOf(said)
	if c.byKind[key] == nil && len(c.byKind) >= mostReasons {
		key, said = others, others
	}
	r := c.byKind[key]
	if r == nil {
		r = &ErrorGroup{Text: strings.Clone(said), Example: Example{Record: row.Record, Input: strings.Clone(row.Input), Error: strings.Clone(row.Error)}}
		c.byKind[key] = r
	}
	r.Records++
}

// place matches a file with a line at the beginning of an error.
var place = regexp.MustCompile(`^(?:[^:]|:[^ ])+?:[0-9]+: `)

func withoutPlace(text string) string { return text[len(place.FindString(text)):] }

// varying matches the parts in which errors of one kind differ: quoted text, and numbers.
var varying = regexp.MustCompile(`"[^"]*"|"|(?:HTTP )?[0-9]+`)

// kindOf returns an error with 0 for numbers other than HTTP statuses, and … for quoted text.
func kindOf(text string) string {
	return varying.ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case found[0] == '"':
			return "…"
		case found[0] == 'H':
			return found
		}
		return "0"
	})
}

// lowest keeps the examples with the lowest numbers; of examples with equal numbers, the first.
type lowest struct {
	numbers  []float64 // ascending
	examples []Example
}

func (l *lowest) add(x float64, example func() Example) {
	at := len(l.numbers)
	for at > 0 && x < l.numbers[at-1] {
		at--
	}
	if at == mostExamples || math.IsNaN(x) {
		return
	}
	most := min(len(l.numbers)+1, mostExamples)
	l.numbers, l.examples = slices.Insert(l.numbers, at, x)[:most], slices.Insert(l.examples, at, example())[:most]
}
