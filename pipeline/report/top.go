package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// TopOptions say which categories WriteTop prints, and how.
type TopOptions struct {
	Level int // of the categories, from 1
	Most  int // categories of each classification; 0 for all
	Width int // of the terminal, in characters; 0 for text without a terminal

	Blocks bool // the terminal shows block characters: see figures.Bar
}

// Top is the largest categories of a level.
type Top struct {
	Classification string       `json:"classification"`
	Level          int          `json:"level"`
	Records        int64        `json:"records"`
	Coverage       []Coverage   `json:"coverage"`
	Confidence     Distribution `json:"confidence"`
	Categories     []Category   `json:"categories"`
	More           int          `json:"more"` // number of further categories
}

// Top returns the largest categories of a level of each classification. Records whose category ends above the level
// count for that category.
func (s Summary) Top(level, most int) []Top {
	list := []Top{}
	for _, c := range s.Classifications {
		t := Top{Classification: c.Name, Level: level, Records: c.Records, Coverage: c.Coverage, Confidence: c.Confidence}
		t.Categories = atLevel([]Category{}, c.Categories, level)
		slices.SortStableFunc(t.Categories, func(a, b Category) int { return cmp.Compare(b.Records, a.Records) })
		if most > 0 && len(t.Categories) > most {
			t.More, t.Categories = len(t.Categories)-most, t.Categories[:most]
		}
		list = append(list, t)
	}
	return list
}

// atLevel appends the categories of a level. A category above the level is appended with its records that no category below has.
func atLevel(list, nodes []Category, level int) []Category {
	for _, n := range nodes {
		children := n.Children
		n.Children = nil
		if level <= 1 || len(children) == 0 {
			list = append(list, n)
			continue
		}
		rest := n
		for _, c := range children {
			rest.Records, rest.Rows, rest.Share = rest.Records-c.Records, rest.Rows-c.Rows, rest.Share-c.Share
			rest.sum, rest.known = rest.sum-c.sum, rest.known-c.known
		}
		list = atLevel(list, children, level-1)
		if rest.Records > 0 || rest.Rows > 0 {
			rest.Confidence, rest.Share = mean(rest.sum, rest.known), max(0, rest.Share)
			list = append(list, rest)
		}
	}
	return list
}

// WriteTop prints the largest categories with bars.
func (s Summary) WriteTop(out io.Writer, o TopOptions) error {
	list := s.Top(o.Level, o.Most)
	var b strings.Builder
	for i, t := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.write(&b, o)
	}
	if len(list) == 0 {
		b.WriteString("no rows\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// The widths of the columns of the text, in characters.
const (
	plainBar  = 20 // without a terminal
	leastBar  = 5
	mostName  = 60
	otherCols = 34 // records, share, confidence and spaces
)

func (t Top) write(b *strings.Builder, o TopOptions) {
	var parts []string
	for _, c := range t.Coverage {
		parts = append(parts, fmt.Sprintf("%s %s (%s)", figures.Count(c.Records), c.Status, figures.Percent(c.Share)))
	}
	fmt.Fprintf(b, "%s  %s records: %s\n", t.Classification, figures.Count(t.Records), strings.Join(parts, ", "))
	if m := t.Confidence.Mean; m != nil {
		fmt.Fprintf(b, "mean confidence %.3f\n", *m)
	}
	if len(t.Categories) == 0 {
		return
	}
	longestName := len("category")
	for _, c := range t.Categories {
		longestName = max(longestName, utf8.RuneCountInString(nameOf(c)))
	}
	name, bar := min(longestName, mostName), plainBar
	if o.Width > 0 {
		name = min(name, max(o.Width-otherCols-leastBar, 12))
		bar = max(o.Width-otherCols-name, leastBar)
	}
	fmt.Fprintf(b, "\n%11s %7s %10s  %s\n", "records", "share", "confidence", "category")
	for _, c := range t.Categories {
		line := fmt.Sprintf("%11s %7s %10s  %-*s  %s", figures.Count(c.Records), figures.Percent(c.Share), thousandths(c.Confidence), name, figures.Cut(nameOf(c), name), figures.Bar(figures.Share(c.Records, t.Categories[0].Records), bar, o.Blocks))
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	if t.More > 0 {
		noun := "categories"
		if t.More == 1 {
			noun = "category"
		}
		fmt.Fprintf(b, "and %s more %s\n", figures.Count(int64(t.More)), noun)
	}
}

func thousandths(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.3f", *x)
}

// nameOf returns the path of a category, or its code with its title.
func nameOf(c Category) string {
	if c.Title != "" {
		return figures.Short(c.Path + " " + c.Title)
	}
	return figures.Short(c.Path)
}
