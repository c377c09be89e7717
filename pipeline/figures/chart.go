package figures

import (
	"cmp"
	_ "embed" // the templates and the style
	"fmt"
	"html/template"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Chart shows values over time. All lines have as many values as X; NaN is a gap.
type Chart struct {
	Title, Unit string
	Suffix      string    // of the numbers of the axis, such as "/s"
	X           []float64 // positions of the values, ascending from 0 to 1; empty while there is no data
	Lines       []Line
	Ticks       []Tick
	Bands       []Band
	Marks       []float64 // positions of dashed vertical lines, from 0 to 1
	Columns     []string  // headings of the legend, for the Cells of the lines
	Key         []Note    // legend of the bands
}

// Line is one series of a chart.
type Line struct {
	Name   string
	Class  string // of the color: s0, s1, ... s7, or "limit"
	Values []float64
	Area   bool     // draws an area stacked on the previous ones; otherwise a line
	Cells  []string // row of the legend, after Name
}

// Band is a span of time in which a run was in a state.
type Band struct {
	Class    string // CSS class of the state
	From, To float64
	Share    float64 // share of the span in the state, from 0 to 1
}

// AppendBand appends a band. If the last band ends where b begins and both are wholly in the same state, AppendBand extends the
// last band instead.
func AppendBand(list []Band, b Band) []Band {
	if n := len(list); n > 0 && list[n-1].Class == b.Class && list[n-1].To == b.From && min(b.Share, list[n-1].Share) > 0.99 {
		list[n-1].To = b.To
		return list
	}
	return append(list, b)
}

// Width returns the length of the span, from 0 to 1.
func (b Band) Width() float64 { return b.To - b.From }

// Opacity returns the CSS opacity for Share. Any share is visible.
func (b Band) Opacity() string { return fmt.Sprintf("%.2f", 0.06+0.24*b.Share) }

// Note is a text and the CSS class of its color.
type Note struct{ Class, Text string }

//go:embed figures.html
var templates string

// Style is the style sheet of the templates. It also defines the colors of the pages that use them.
//
//go:embed figures.css
var Style string

// Templates returns the templates "chart", for a Chart, and "bar", for a share, with their functions for numbers.
func Templates() *template.Template {
	return template.Must(template.New("figures").Funcs(template.FuncMap{
		"count": func(n any) string { return Count(reflect.ValueOf(n).Int()) }, "percent": Percent, "draw": draw,
		"hundred": func(share float64) string { return fmt.Sprintf("%.2f", 100*share) },
	}).Parse(templates))
}

// drawing is the data of the template "chart".
type drawing struct {
	Chart
	Label string // describes the chart for screen readers
	Grid  []Tick // ticks of the vertical axis; At counts from the top
	Paths []path
}

type path struct {
	Line
	D template.HTMLAttr
}

// The size of the coordinate system of the lines.
const (
	width  = 1000
	height = 100
)

// room bounds the axis to this multiple of the highest area. A limit line far above the areas would flatten them.
const room = 1.5

func draw(c Chart) drawing {
	d := drawing{Chart: c}
	sums, areas, lines := make([]float64, len(c.X)), 0.0, 0.0
	stacks := make([][2][]float64, len(c.Lines)) // lower and upper edges
	for i, line := range c.Lines {
		if !line.Area {
			for _, v := range line.Values {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					lines = max(lines, v)
				}
			}
			continue
		}
		lower, upper := append([]float64(nil), sums...), make([]float64, len(c.X))
		for k, v := range line.Values {
			sums[k] += v
			upper[k], areas = sums[k], max(areas, sums[k])
		}
		stacks[i] = [2][]float64{lower, upper}
	}
	most := max(areas, lines)
	if areas > 0 {
		most = max(areas, min(lines, room*areas))
	}
	step, top := scale(most)
	for v := 0.0; v <= top*(1+1e-9); v += step {
		d.Grid = append(d.Grid, Tick{1 - v/top, Number(v) + c.Suffix})
	}
	var words []string
	for i, line := range c.Lines {
		p := path{Line: line}
		if line.Area {
			p.D = attr(area(c.X, stacks[i][0], stacks[i][1], top))
		} else {
			p.D = attr(polyline(c.X, line.Values, top))
		}
		d.Paths = append(d.Paths, p)
		words = append(words, strings.TrimSpace(line.Name+" "+strings.Join(line.Cells[:min(1, len(line.Cells))], "")))
	}
	for _, note := range c.Key {
		words = append(words, note.Text)
	}
	d.Label = c.Title + ", " + c.Unit + ": " + strings.Join(words, ", ")
	return d
}

// attr marks a path as safe HTML: it has only numbers and the letters of this file.
func attr(d string) template.HTMLAttr { return template.HTMLAttr(`d="` + d + `"`) }

func at(x, v, top float64) string { return fmt.Sprintf("%.1f %.1f", width*x, height*(1-v/top)) }

// polyline returns the path through the values. NaN and infinity break the line.
func polyline(x, values []float64, top float64) string {
	var b strings.Builder
	down := false
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			down = false
			continue
		}
		b.WriteString(map[bool]string{false: "M", true: "L"}[down] + at(x[i], v, top))
		down = true
	}
	return b.String()
}

// area returns the path around the area between two edges.
func area(x, lower, upper []float64, top float64) string {
	if len(upper) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(polyline(x, upper, top))
	for i := len(lower) - 1; i >= 0; i-- {
		b.WriteString("L" + at(x[i], lower[i], top))
	}
	return b.String() + "Z"
}

// classes are the CSS classes of outcomes of requests. All other outcomes have class s7.
var classes = map[string]string{
	"answered": "s0", "200": "s0", "429": "s1", "503": "s2", "404": "s3", "timeout": "s4", "500": "s5", "no response": "s6",
}

// OutcomeClass returns the CSS class of an outcome of requests.
func OutcomeClass(outcome string) string { return cmp.Or(classes[outcome], "s7") }

// SortOutcomes sorts outcomes: answers first, then by falling count.
func SortOutcomes(names []string, counts map[string]int64) {
	slices.SortFunc(names, func(a, b string) int {
		answered := func(name string) int { return map[bool]int{true: 0, false: 1}[OutcomeClass(name) == "s0"] }
		return cmp.Or(cmp.Compare(answered(a), answered(b)), cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}
