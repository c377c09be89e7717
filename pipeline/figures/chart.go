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
	Suffix      string    // of the numbers at the axis, such as "/s"
	X           []float64 // the places of the values, ascending from 0 to 1; without any, there is nothing to show yet
	Lines       []Line
	Ticks       []Tick
	Bands       []Band
	Marks       []float64 // places of dashed lines
	Columns     []string  // of the legend, beside the names
	Key         []Note    // what the bands are
}

// Line is one series of a chart.
type Line struct {
	Name   string
	Class  string // of the color: s0, s1, ... s7, or "limit"
	Values []float64
	Area   bool     // an area above the areas before it; otherwise a line
	Cells  []string // in the legend
}

// Band is a part of the time in which a run was in a state.
type Band struct {
	Class    string // of the state, for the color
	From, To float64
	Share    float64 // of that part, from 0 to 1
}

// AppendBand appends a band, or makes the last one longer if both are of one state for the whole time.
func AppendBand(list []Band, b Band) []Band {
	if n := len(list); n > 0 && list[n-1].Class == b.Class && list[n-1].To == b.From && min(b.Share, list[n-1].Share) > 0.99 {
		list[n-1].To = b.To
		return list
	}
	return append(list, b)
}

// Width is that of the band.
func (b Band) Width() float64 { return b.To - b.From }

// Opacity shows the share. Any share is visible.
func (b Band) Opacity() string { return fmt.Sprintf("%.2f", 0.06+0.24*b.Share) }

// Note is a word with a color.
type Note struct{ Class, Text string }

//go:embed figures.html
var templates string

// Style is the style sheet of the templates, with the colors of the pages that use them.
//
//go:embed figures.css
var Style string

// Templates has the templates "chart" of a Chart and "bar" of a share, and functions for numbers.
func Templates() *template.Template {
	return template.Must(template.New("figures").Funcs(template.FuncMap{
		"count": func(n any) string { return Count(reflect.ValueOf(n).Int()) }, "percent": Percent, "draw": draw,
		"hundred": func(share float64) string { return fmt.Sprintf("%.2f", 100*share) },
	}).Parse(templates))
}

// drawing is what the template needs of a chart.
type drawing struct {
	Chart
	Label string // the first cells of the legend in words, for readers who do not see the chart
	Grid  []Tick // of the upper axis; At counts from the top
	Paths []path
}

type path struct {
	Line
	D template.HTMLAttr
}

// The size of the coordinate system of lines.
const (
	width  = 1000
	height = 100
)

// room is how far a line may go above the areas: a limit that is far above the requests would make these flat.
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

// attr is safe: the text is numbers and letters of this file.
func attr(d string) template.HTMLAttr { return template.HTMLAttr(`d="` + d + `"`) }

func at(x, v, top float64) string { return fmt.Sprintf("%.1f %.1f", width*x, height*(1-v/top)) }

// polyline joins the values. NaN lifts the pen.
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

// area is the area between two edges.
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

// classes are the colors of outcomes of requests. All others have the last color.
var classes = map[string]string{
	"answered": "s0", "200": "s0", "429": "s1", "503": "s2", "404": "s3", "timeout": "s4", "500": "s5", "no response": "s6",
}

// OutcomeClass is the color of an outcome of requests.
func OutcomeClass(outcome string) string { return cmp.Or(classes[outcome], "s7") }

// SortOutcomes puts answers first, and then the largest counts.
func SortOutcomes(names []string, counts map[string]int64) {
	slices.SortFunc(names, func(a, b string) int {
		answered := func(name string) int { return map[bool]int{true: 0, false: 1}[OutcomeClass(name) == "s0"] }
		return cmp.Or(cmp.Compare(answered(a), answered(b)), cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}
