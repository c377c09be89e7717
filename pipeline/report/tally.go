package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

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
	name       string
	records    int64
	statuses   map[writer.Status]*statusCount
	leaves     []*leaf
	byValue    map[string]*leaf
	confidence Distribution
	look       Look
	low, close lowest
	custom     bool                // no ids are known
	firsts     map[string]*Example // the first record of each category of level 1
}

// statusCount counts the records of a status.
type statusCount struct {
	records int64
	reasons map[string]*ErrorGroup
}

// leaf is a distinct category.
type leaf struct {
	value, title  string
	records, rows int64
	sum           float64 // of the confidences as a main category
	known         int64   // the number of these confidences
}

// add counts the rows of a group.
func (t *tally) add(g *readback.Group) {
	first := &g.Rows[0]
	if g.First || first.Record != t.record {
		t.records++
	}
	t.rows, t.record = t.rows+g.InFile, first.Record
	c := t.class(first.Classification)
	c.records++
	n := c.statuses[first.Status]
	if n == nil {
		n = &statusCount{reasons: make(map[string]*ErrorGroup)}
		c.statuses[writer.Status(strings.Clone(string(first.Status)))] = n
	}
	if n.records++; first.Value == "" && first.Error != "" {
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

// entry is a row with a category; the zero value is none.
type entry struct {
	*leaf
	row *writer.Row
}

// less reports whether e is after another category. Of equal confidences the first one of the record counts.
func (e entry) less(other entry) bool {
	return e.row == nil || cmp.Less(e.row.Confidence, other.row.Confidence) // NaN is below all numbers
}

// class returns the counts of a classification.
func (t *tally) class(name string) *class {
	c := t.byName[name]
	if c == nil {
		c = &class{
			name: strings.Clone(name), statuses: make(map[writer.Status]*statusCount), byValue: make(map[string]*leaf), firsts: make(map[string]*Example),
			custom: strings.HasPrefix(name, "product_taxonomy_custom"),
		}
		c.low.most, c.close.most = mostExamples, mostExamples
		t.byName[c.name], t.classes = c, append(t.classes, c)
	}
	return c
}

// entry counts a row with a category.
func (c *class) entry(row *writer.Row) entry {
	l := c.leaf(row)
	l.rows++
	if x := row.Confidence; !(x >= 0 && x <= 1) || !c.custom && row.CategoryID == "" {
		c.drift(row)
	}
	return entry{l, row}
}

// end counts the main category of a record, and keeps the record as an example.
func (c *class) end(main, second entry) {
	l, x := main.leaf, main.row.Confidence
	l.records++
	if l.records == 1 {
		c.keepFirst(main)
	}
	if c.observe(l, x) && c.low.takes(x) {
		c.low.add(x, exampleOf(main.row))
	}
	if second.row == nil || !c.close.takes(x-second.row.Confidence) {
		return
	}
	e := exampleOf(main.row)
	e.Second = &Second{strings.Clone(second.row.Value), second.row.Confidence}
	c.close.add(x-second.row.Confidence, e)
}

// keepFirst keeps a record if it is the first one of its category of level 1.
func (c *class) keepFirst(main entry) {
	if top := c.levels(nil, main.value)[0]; c.firsts[top] == nil {
		e := exampleOf(main.row)
		c.firsts[top] = &e
	}
}

// leaf returns the count of a category.
func (c *class) leaf(row *writer.Row) *leaf {
	value := row.Value
	if c.byValue[value] == nil && len(c.leaves) >= mostCategories {
		value = others
	}
	l := c.byValue[value]
	if l == nil {
		l = &leaf{value: strings.Clone(value), title: strings.Clone(row.Title)} // without the texts around
		c.byValue[l.value], c.leaves = l, append(c.leaves, l)
	}
	return l
}

// observe counts the confidence of a main category, and reports whether there is one.
func (c *class) observe(l *leaf, x float64) bool {
	d := &c.confidence
	if math.IsNaN(x) {
		d.Missing++
		return false
	}
	l.sum, l.known = l.sum+x, l.known+1
	if x < 0 || x > 1 {
		d.Outside++
	} else {
		d.Bins[min(int(x*confidenceBins+1e-9), confidenceBins-1)]++ // 0.15*20 is less than 3
	}
	return true
}

// drift counts a row that departs from the interface.
func (c *class) drift(row *writer.Row) {
	d := &c.look.Drift
	if x := row.Confidence; x >= 0 && x <= 1 {
		d.Category++
	} else {
		d.Confidence++
	}
	if len(d.Examples) < mostExamples {
		d.Examples = append(d.Examples, exampleOf(row))
	}
}

// exampleOf returns the record of a row with a category as an example, without the texts around.
func exampleOf(row *writer.Row) Example {
	e := Example{Record: row.Record, Input: strings.Clone(row.Input), Value: strings.Clone(row.Value)}
	if x := row.Confidence; !math.IsNaN(x) {
		e.Confidence = &x
	}
	return e
}

// reason counts the error of a record without a category.
func (n *statusCount) reason(row *writer.Row) {
	said := withoutPlace(row.Error)
	key := kindOf(said)
	r := n.reasons[key]
	if r == nil && len(n.reasons) >= mostReasons {
		key, said = others, others
		r = n.reasons[key]
	}
	if r == nil {
		r = &ErrorGroup{Text: strings.Clone(said), Example: Example{Record: row.Record, Input: strings.Clone(row.Input), Error: strings.Clone(row.Error)}}
		n.reasons[key] = r
	}
	r.Records++
}

// withoutPlace is an error without file and line.
func withoutPlace(text string) string {
	if place, rest, ok := strings.Cut(text, ": "); ok {
		if colon := strings.LastIndexByte(place, ':'); colon > 0 && isNumber(place[colon+1:]) {
			return rest
		}
	}
	return text
}

// kindOf is an error with 0 for numbers other than HTTP statuses, and … for quoted text.
func kindOf(text string) string {
	var kind strings.Builder
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			if end := strings.IndexByte(text[i+1:], '"'); end >= 0 {
				i += end + 1
			}
			kind.WriteString("…")
		case isDigit(b):
			begin := i
			for i+1 < len(text) && isDigit(text[i+1]) {
				i++
			}
			if strings.HasSuffix(text[:begin], "HTTP ") {
				kind.WriteString(text[begin : i+1])
			} else {
				kind.WriteByte('0')
			}
		default:
			kind.WriteByte(b)
		}
	}
	return kind.String()
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// lowest keeps the examples with the lowest numbers. Of equal numbers it keeps the first.
type lowest struct {
	most int
	list []ranked // ascending
}

type ranked struct {
	number float64
	Example
}

// takes reports whether an example with the number would be kept.
func (l *lowest) takes(x float64) bool {
	return len(l.list) < l.most && !math.IsNaN(x) || len(l.list) == l.most && x < l.list[l.most-1].number
}

func (l *lowest) add(x float64, e Example) {
	at := slices.IndexFunc(l.list, func(r ranked) bool { return x < r.number })
	if at < 0 {
		at = len(l.list)
	}
	l.list = slices.Insert(l.list, at, ranked{x, e})
	l.list = l.list[:min(len(l.list), l.most)]
}

func (l *lowest) examples() []Example {
	list := []Example{}
	for _, r := range l.list {
		list = append(list, r.Example)
	}
	return list
}
