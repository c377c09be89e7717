package report

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// Summary has the counts of the rows of an output.
type Summary struct {
	Files           int              `json:"files"`
	Rows            int64            `json:"rows"`
	Records         int64            `json:"records"`
	Classifications []Classification `json:"classifications"`
}

// Classification is the part of a Summary about one classification. Counts are of records by their main category, which is the
// category of the highest confidence, unless a comment says otherwise.
type Classification struct {
	Name       string       `json:"name"`
	Records    int64        `json:"records"`
	Coverage   []Coverage   `json:"coverage"`
	Categories []Category   `json:"categories"` // of level 1, the largest first
	Distinct   int          `json:"distinct_categories"`
	Confidence Distribution `json:"confidence"`
	Look       Look         `json:"worth_a_look"`
}

// Coverage is the number of records with a status.
type Coverage struct {
	Status  writer.Status `json:"status"`
	Records int64         `json:"records"`
	Share   float64       `json:"share"`
	Reasons []ErrorGroup  `json:"reasons,omitempty"` // the most frequent first

	byKind map[string]*ErrorGroup
}

// ErrorGroup counts records without a category whose errors differ only in numbers and quoted text.
type ErrorGroup struct {
	Text    string  `json:"reason"` // of the first record, without the place in the input
	Records int64   `json:"records"`
	Example Example `json:"example"` // the first record
}

// Example is a record as an example.
type Example struct {
	Record     int64    `json:"record"`
	Input      string   `json:"input"`
	Value      string   `json:"value,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Second     *Second  `json:"second,omitempty"`
	Error      string   `json:"error,omitempty"`
}

// Second is the category of the second highest confidence of an Example.
type Second struct {
	Value      string  `json:"value"`
	Confidence float64 `json:"confidence"`
}

// Category is a node of the tree of categories, with the records of the nodes below.
type Category struct {
	Name       string     `json:"name"`
	Title      string     `json:"title,omitempty"` // the title of a code
	Path       string     `json:"path"`
	Records    int64      `json:"records"`
	Share      float64    `json:"share"`                // of the records with a category
	Confidence *float64   `json:"confidence,omitempty"` // the mean of the records that have a confidence
	Rows       int64      `json:"rows"`                 // rows with the category, of any rank
	Children   []Category `json:"children,omitempty"`

	sum   float64  // of the confidences
	known int64    // the number of confidences
	first *Example // the first record, of level 1
	below map[string]*Category
}

// Distribution counts the confidences of main categories.
type Distribution struct {
	Bins    []int64  `json:"bins"` // of equal width from 0 to 1; the last bin includes 1
	Mean    *float64 `json:"mean,omitempty"`
	Outside int64    `json:"outside"` // below 0 or above 1
	Missing int64    `json:"missing"`
}

const confidenceBins = 20

// Look has examples of records that a person should look at.
type Look struct {
	LowConfidence []Example `json:"low_confidence"`  // the lowest first
	CloseSecond   []Example `json:"close_second"`    // the second category has nearly the same confidence; the closest first
	Rare          []Rare    `json:"rare_categories"` // of level 1, the rarest first
	Drift         Drift     `json:"drift"`
}

// Rare is a category of level 1 that few records have. The records of a list have subjects in common, so a record with a rare
// category may be answered wrongly, or in the wrong list.
type Rare struct {
	Category string   `json:"category"`
	Records  int64    `json:"records"`
	Share    float64  `json:"share"`
	Example  *Example `json:"example,omitempty"` // the first record
}

// rareShare is the share of records below which a category is rare.
const rareShare = 0.01

// Drift counts rows with departures from the interface, with some examples.
type Drift struct {
	Confidence int64     `json:"confidence"` // missing, below 0 or above 1
	Category   int64     `json:"category"`   // not in the taxonomy: the row has no id
	Examples   []Example `json:"examples,omitempty"`
}

// The maximum number of examples of each kind, and bounds of memory: further distinct reasons and categories count as others.
const (
	mostExamples   = 20
	mostReasons    = 64
	mostCategories = 200_000
	others         = "(others)"
)

// columns are the columns that Summarize reads.
var columns = []writer.ColumnID{writer.ColumnRecord, writer.ColumnInput, writer.ColumnStatus, writer.ColumnClassification, writer.ColumnRank, writer.ColumnValue,
	writer.ColumnCategoryID, writer.ColumnTitle, writer.ColumnConfidence, writer.ColumnError}

// Summarize reads the rows of an output.
func Summarize(ctx context.Context, parts []readback.Part) (Summary, error) {
	t := tally{byName: make(map[string]*class)}
	for g, err := range readback.Groups(ctx, parts, columns...) {
		if err != nil {
			return Summary{}, err
		}
		t.add(g)
	}
	s := Summary{Files: len(parts), Rows: t.rows, Records: t.records, Classifications: []Classification{}}
	for _, c := range t.classes {
		s.Classifications = append(s.Classifications, c.result())
	}
	return s, nil
}

// result returns the counts of a classification.
func (c *class) result() Classification {
	r := c.Classification
	r.Distinct, r.Look.LowConfidence, r.Look.CloseSecond = len(c.paths), c.low.examples, c.close.examples
	rank := func(s writer.Status) int { // unknown statuses are last
		if i := slices.Index(writer.Statuses, s); i >= 0 {
			return i
		}
		return len(writer.Statuses)
	}
	statuses := slices.SortedFunc(maps.Keys(c.statuses), func(a, b writer.Status) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	for _, status := range statuses {
		coverage := c.statuses[status]
		coverage.Share = figures.Share(coverage.Records, c.Records)
		for _, reason := range coverage.byKind {
			coverage.Reasons = append(coverage.Reasons, *reason)
		}
		slices.SortFunc(coverage.Reasons, func(a, b ErrorGroup) int {
			return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Text, b.Text))
		})
		r.Coverage = append(r.Coverage, *coverage)
	}
	var all Category
	for _, top := range c.root.below {
		all.Records, all.sum, all.known = all.Records+top.Records, all.sum+top.sum, all.known+top.known
	}
	r.Confidence.Mean, r.Categories = mean(all.sum, all.known), c.root.sorted(all.Records)
	r.Look.Rare = rare(r.Categories)
	return r
}

// rare returns the rare categories of level 1, the rarest first. The largest of the categories is the first.
func rare(categories []Category) []Rare {
	list := []Rare{}
	for _, k := range slices.Backward(categories) {
		if k.Records > 0 && k.Share < rareShare && len(list) < mostExamples {
			list = append(list, Rare{nameOf(k), k.Records, k.Share, k.first})
		}
	}
	return list
}

// sorted returns the categories below, the largest first, with their shares of the records of.
func (k *Category) sorted(of int64) (list []Category) {
	for _, c := range k.below {
		c.Children = c.sorted(of)
		c.Share, c.Confidence = figures.Share(c.Records, of), mean(c.sum, c.known)
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Category) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// mean returns sum / n, rounded, because the order of a sum changes the last digits; nil if n is 0.
func mean(sum float64, n int64) *float64 {
	if n == 0 {
		return nil
	}
	x := math.Round(sum/float64(n)*1e9) / 1e9
	return &x
}
