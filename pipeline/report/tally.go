package report

import (
	"math"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/writer"
)

// tally counts the rows of an output.
type tally struct {
	rows, records int64
	classes       []*class // in the order of their first rows
	byName        map[string]*class

	group  *class // the classification of the present group; nil before the first row of a file
	record int64
	input  string // of the present group, if it began in an earlier batch and its example would be kept

	numbered []*class // of the present batch, by the number of the classification's text
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

	main, second entry // of the present group: the categories of the highest confidence
	rank         int64 // of the present group's last row: 1 for the first
	numbered     []*leaf
	byStatus     []*statusCount
}

// entry is a category of a record.
type entry struct {
	leaf       *leaf // nil if the record has no such category
	confidence float64
}

// less reports whether e is after a category with the confidence x. Of equal confidences the first one of the record counts.
func (e entry) less(x float64) bool {
	return e.leaf == nil || x > e.confidence || math.IsNaN(e.confidence) && !math.IsNaN(x)
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

// add counts the rows of a batch.
func (t *tally) add(b *outputs.Batch) error {
	if b.First {
		if err := t.end(); err != nil {
			return err
		}
	}
	t.rows += int64(b.Rows)
	t.begin(b)
	for i := range b.Len {
		c, record := t.numbered[b.Texts[writer.ColumnClassification].Index[i]], b.Wholes[writer.ColumnRecord][i]
		if c != t.group || record != t.record {
			if err := t.endGroup(b, i); err != nil {
				return err
			}
			if t.group == nil || record != t.record {
				t.records++
			}
			t.group, t.record = c, record
			c.beginGroup(b, i)
		} else {
			c.rank++
		}
		if value := b.Texts[writer.ColumnValue].Index[i]; value != 0 {
			if err := c.entry(b, i, value); err != nil {
				return err
			}
		} else if c.rank == 1 {
			if err := c.reason(b, i); err != nil {
				return err
			}
		}
	}
	return t.keepInput(b)
}

// endGroup counts the main category of the present group, which ends before row i.
func (t *tally) endGroup(b *outputs.Batch, i int) error {
	if t.group == nil {
		return nil
	}
	return t.group.endGroup(t.record, func() (string, error) {
		if i == 0 {
			return t.input, nil
		}
		return inputOf(b, i-1)
	})
}

// keepInput keeps the input of the present group, since the next batch may begin with another one. To read an input takes
// time, so it is read only if it is needed.
func (t *tally) keepInput(b *outputs.Batch) (err error) {
	if t.group != nil && b.Len > 0 && t.group.wantsInput() {
		t.input, err = inputOf(b, b.Len-1)
	}
	return err
}

// end ends a file.
func (t *tally) end() error {
	err := t.endGroup(nil, 0)
	t.group = nil
	return err
}

// begin finds the classifications of a batch by number.
func (t *tally) begin(b *outputs.Batch) {
	t.numbered = t.numbered[:0]
	for _, name := range b.Texts[writer.ColumnClassification].Distinct {
		c := t.byName[name]
		if c == nil {
			c = &class{
				name: strings.Clone(name), statuses: make(map[writer.Status]*statusCount), byValue: make(map[string]*leaf), firsts: make(map[string]*Example),
				custom: strings.HasPrefix(name, "product_taxonomy_custom"),
			}
			c.low.most, c.close.most = mostExamples, mostExamples
			if t.byName[c.name] = c; name != "" {
				t.classes = append(t.classes, c)
			}
		}
		c.begin(b)
		t.numbered = append(t.numbered, c)
	}
}

// begin forgets the numbers of the last batch, and finds the statuses by number.
func (c *class) begin(b *outputs.Batch) {
	clear(c.numbered)
	if n := len(b.Texts[writer.ColumnValue].Distinct); n > len(c.numbered) {
		c.numbered = make([]*leaf, n, max(n, 1024))
	}
	c.byStatus = c.byStatus[:0]
	for _, status := range b.Texts[writer.ColumnStatus].Distinct {
		n := c.statuses[writer.Status(status)]
		if n == nil {
			n = &statusCount{reasons: make(map[string]*ErrorGroup)}
			c.statuses[writer.Status(strings.Clone(status))] = n
		}
		c.byStatus = append(c.byStatus, n)
	}
}

// beginGroup counts a record with its status.
func (c *class) beginGroup(b *outputs.Batch, i int) {
	c.records++
	c.rank, c.main, c.second = 1, entry{}, entry{}
	c.byStatus[b.Texts[writer.ColumnStatus].Index[i]].records++
}

// entry counts a row with a category.
func (c *class) entry(b *outputs.Batch, i int, value int32) error {
	l := c.numbered[value]
	if l == nil {
		l = c.leaf(b, i, b.Texts[writer.ColumnValue].Distinct[value])
		c.numbered[value] = l
	}
	l.rows++
	x := b.Reals[writer.ColumnConfidence][i]
	within := x >= 0 && x <= 1
	if e := (entry{l, x}); c.main.less(x) {
		c.main, c.second = e, c.main
	} else if c.second.less(x) {
		c.second = e
	}
	ids := b.Texts[writer.ColumnCategoryID].Index
	if within && (c.custom || len(ids) == 0 || ids[i] != 0) {
		return nil
	}
	return c.drift(l, x, within, b, i)
}

// wantsInput reports whether the present group would be an example if it ended now.
func (c *class) wantsInput() bool {
	return c.main.leaf != nil && (c.main.leaf.records == 0 || c.low.takes(c.main.confidence) || c.isClose())
}

func (c *class) isClose() bool {
	return c.second.leaf != nil && c.close.takes(c.main.confidence-c.second.confidence)
}

// endGroup counts the main category of a record, and keeps the record as an example.
func (c *class) endGroup(record int64, input func() (string, error)) (err error) {
	l, x := c.main.leaf, c.main.confidence
	if l == nil {
		return nil
	}
	e := Example{Record: record, Value: l.value}
	if !math.IsNaN(x) {
		e.Confidence = &x
	}
	if c.wantsInput() {
		if e.Input, err = input(); err != nil {
			return err
		}
	}
	l.records++
	if top := c.levels(nil, l.value)[0]; l.records == 1 && c.firsts[top] == nil {
		first := e
		c.firsts[top] = &first
	}
	if c.observe(l, x) && c.low.takes(x) {
		c.low.add(x, e)
	}
	if c.isClose() {
		e.Second = &Second{c.second.leaf.value, c.second.confidence}
		c.close.add(x-c.second.confidence, e)
	}
	return nil
}

// leaf returns the count of a category.
func (c *class) leaf(b *outputs.Batch, i int, value string) *leaf {
	if c.byValue[value] == nil && len(c.leaves) >= mostCategories {
		value = others
	}
	l := c.byValue[value]
	if l == nil {
		l = &leaf{value: strings.Clone(value), title: strings.Clone(b.Texts[writer.ColumnTitle].At(i))} // without the texts around
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
func (c *class) drift(l *leaf, x float64, within bool, b *outputs.Batch, i int) (err error) {
	d := &c.look.Drift
	if !within {
		d.Confidence++
	} else {
		d.Category++
	}
	if len(d.Examples) >= mostExamples {
		return nil
	}
	e := Example{Record: b.Wholes[writer.ColumnRecord][i], Value: l.value}
	if !math.IsNaN(x) {
		e.Confidence = &x
	}
	e.Input, err = inputOf(b, i)
	d.Examples = append(d.Examples, e)
	return err
}

// reason counts the error of a record without a category.
func (c *class) reason(b *outputs.Batch, i int) (err error) {
	text := b.Texts[writer.ColumnError].At(i)
	if text == "" {
		return nil
	}
	said := withoutPlace(text)
	key := kindOf(said)
	n := c.byStatus[b.Texts[writer.ColumnStatus].Index[i]]
	r := n.reasons[key]
	if r == nil && len(n.reasons) >= mostReasons {
		key, said = others, others
		r = n.reasons[key]
	}
	if r == nil {
		r = &ErrorGroup{Text: strings.Clone(said), Example: Example{Record: b.Wholes[writer.ColumnRecord][i], Error: strings.Clone(text)}}
		r.Example.Input, err = inputOf(b, i)
		n.reasons[key] = r
	}
	r.Records++
	return err
}

func inputOf(b *outputs.Batch, i int) (string, error) {
	text, err := b.InputAt(i)
	return strings.Clone(text), err // without the texts around
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
	at := len(l.list)
	for at > 0 && x < l.list[at-1].number {
		at--
	}
	if len(l.list) < l.most {
		l.list = append(l.list, ranked{})
	}
	copy(l.list[at+1:], l.list[at:])
	l.list[at] = ranked{x, e}
}

func (l *lowest) examples() (list []Example) {
	for _, r := range l.list {
		list = append(list, r.Example)
	}
	return list
}
