package figures

import (
	_ "embed" // the templates and the style
	"fmt"
	"html/template"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Chart shows values over time. Each value is that of an interval, and a horizontal line; NaN is a gap.
type Chart struct {
	Title, Unit string
	Suffix      string    // of the numbers of the axis, such as "/s"
	X           []float64 // bounds of the intervals, ascending from 0 to 1: one more than values; empty while there is no data
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

// Words are the functions of templates for numbers and texts.
var Words = template.FuncMap{
	"bins": Bins, "duration": Duration, "number": Number, "outcomes": Outcomes, "percent": Percent,
	"add":   func(a, b any) float64 { return float(a) + float(b) },
	"count": func(n any) string { return Count(int64(float(n))) },
	"share": func(n, of any) float64 { return Share(float(n), float(of)) },
	"parts": func(name, unit string, list []Part) partsTable { return partsTable{name, unit, list} },
	"join":  func(list []string) string { return strings.Join(list, ", ") },
	"short": func(text any) string { return Short(fmt.Sprint(text)) },
	"first": func(list any, n int) any { return part(list, 0, n) },
	"rest":  func(list any, n int) any { return part(list, n, math.MaxInt) },
	"more":  func(list any, n int) int { return max(0, reflect.ValueOf(list).Len()-n) }, // how many elements rest has
}

// partsTable is the data of the template "parts".
type partsTable struct {
	Name, Unit string // of the parts and of their counts, for the head
	List       []Part
}

func part(list any, from, to int) any {
	v := reflect.ValueOf(list)
	return v.Slice(min(from, v.Len()), min(to, v.Len())).Interface()
}

// float converts a number of any type, or the number at a pointer.
func float(n any) float64 {
	v := reflect.Indirect(reflect.ValueOf(n))
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// Templates returns the templates "chart", for a Chart, "table", which begins a table with a caption, "parts", for the rows of the
// function parts, "bar" and "share", for a share, and "run settings", for the Settings and the Service of a run, with Words.
func Templates() *template.Template {
	return template.Must(template.New("figures").Funcs(Words).Funcs(template.FuncMap{
		"draw": draw, "hundred": func(share float64) string { return fmt.Sprintf("%.2f", 100*share) },
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
	for _, line := range c.Lines {
		for k, v := range line.Values {
			if line.Area {
				sums[k] += v
				areas = max(areas, sums[k])
			} else if isKnown(v) {
				lines = max(lines, v)
			}
		}
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
	clear(sums)
	for _, line := range c.Lines {
		shape := outline(c.X, line.Values, top)
		if line.Area {
			lower := slices.Clone(sums[:len(line.Values)])
			for k, v := range line.Values {
				sums[k] += v
			}
			shape = area(c.X, lower, sums[:len(lower)], top)
		}
		d.Paths = append(d.Paths, path{line, template.HTMLAttr(`d="` + shape + `"`)}) // numbers, and the letters of this file
		words = append(words, strings.TrimSpace(line.Name+" "+strings.Join(line.Cells[:min(1, len(line.Cells))], "")))
	}
	for _, note := range c.Key {
		words = append(words, note.Text)
	}
	d.Label = c.Title + ", " + c.Unit + ": " + strings.Join(words, ", ")
	return d
}

func isKnown(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// outline returns the path along the values. NaN and infinity break the line.
func outline(x, values []float64, top float64) string {
	var b strings.Builder
	down := false
	for i, v := range values {
		switch y := height * (1 - v/top); {
		case !isKnown(v):
		case down:
			fmt.Fprintf(&b, "V%.1fH%.1f", y, width*x[i+1])
		default:
			fmt.Fprintf(&b, "M%.1f %.1fH%.1f", width*x[i], y, width*x[i+1])
		}
		down = isKnown(v)
	}
	return b.String()
}

// area returns the path around the area between two edges.
func area(x, lower, upper []float64, top float64) string {
	var b strings.Builder
	b.WriteString(outline(x, upper, top))
	for i, v := range slices.Backward(lower) {
		fmt.Fprintf(&b, "V%.1fH%.1f", height*(1-v/top), width*x[i])
	}
	return b.String() + "Z"
}
