package live

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
)

// The size of a chart in units of its view box; the page scales charts.
const (
	chartWidth  = 600
	chartHeight = 150
)

// drawing is what the template needs of a chart.
type drawing struct {
	Chart
	Label string // the newest values in words, for readers who do not see the chart
	Top   string // the largest value
	From  time.Time
	To    time.Time
	Paths []path
}

type path struct {
	Name, Value string // the newest value
	Class       string // s0, s1, ... for the color
	D           template.HTMLAttr
}

func draw(c Chart) drawing {
	d := drawing{Chart: c}
	if len(c.Times) > 0 {
		d.From, d.To = c.Times[0], c.Times[len(c.Times)-1]
	}
	sums := make([]float64, len(c.Times))
	stacks := make([][2][]float64, len(c.Lines)) // lower and upper edges
	top := 0.0
	for i, line := range c.Lines {
		lower, upper := append([]float64(nil), sums...), make([]float64, len(c.Times))
		for k, v := range line.Values {
			upper[k] = v
			if c.Stacked {
				sums[k] += v
				upper[k] = sums[k]
			}
			if !math.IsNaN(upper[k]) {
				top = max(top, upper[k])
			}
		}
		stacks[i] = [2][]float64{lower, upper}
	}
	d.Top = number(top)
	var words []string
	for i, line := range c.Lines {
		p := path{Name: line.Name, Value: number(line.last()), Class: "s" + strconv.Itoa(i%6)}
		lower, upper := stacks[i][0], stacks[i][1]
		if c.Stacked {
			p.D = attr(area(lower, upper, top))
		} else {
			p.D = attr(polyline(upper, top))
		}
		d.Paths = append(d.Paths, p)
		words = append(words, p.Name+" "+p.Value)
	}
	d.Label = c.Title + ", " + c.Unit + ": " + strings.Join(words, ", ")
	return d
}

// attr is safe: the text is numbers and letters of this file.
func attr(d string) template.HTMLAttr { return template.HTMLAttr(`d="` + d + `"`) }

func at(i, n int, v, top float64) string {
	if top == 0 {
		top = 1
	}
	return fmt.Sprintf("%.1f %.1f", float64(i)*chartWidth/float64(max(1, n-1)), chartHeight*(1-v/top))
}

// polyline joins the values. NaN lifts the pen.
func polyline(values []float64, top float64) string {
	var b strings.Builder
	down := false
	for i, v := range values {
		if math.IsNaN(v) {
			down = false
			continue
		}
		b.WriteString(map[bool]string{false: "M", true: "L"}[down] + at(i, len(values), v, top))
		down = true
	}
	return b.String()
}

// area is the area between two edges.
func area(lower, upper []float64, top float64) string {
	if len(upper) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(polyline(upper, top))
	for i := len(lower) - 1; i >= 0; i-- {
		b.WriteString("L" + at(i, len(lower), lower[i], top))
	}
	return b.String() + "Z"
}

// number is a value in few characters.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "none"
	case math.IsInf(v, 1):
		return "no limit"
	case v >= 100 || v == math.Trunc(v):
		return group(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// group separates thousands with a thin space, as in SI.
func group(n int64) string {
	text := strconv.FormatInt(n, 10)
	digits := strings.TrimPrefix(text, "-")
	sign := text[:len(text)-len(digits)]
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, parts...), "\u202f")
}
