package live

import (
	"math"
	"time"
)

// View is the content of the page.
type View struct {
	Title   string // of the page, such as the output of a run
	State   string // what happens, in words
	Since   time.Time
	Ended   bool // nothing changes any more
	Trouble bool // the state needs attention
	Done    int64
	Total   int64 // 0 if unknown: the page then has no bar
	Figures []Figure
	Charts  []Chart
	Tables  []Table

	Settings [][2]string // names and values, without secrets
}

// Figure is a number with its name.
type Figure struct {
	Name, Value string
	Detail      string // such as a comparison; may be empty
}

// Chart shows values over time. All lines have as many values as Times; NaN is a gap.
type Chart struct {
	Title   string
	Unit    string
	Stacked bool // the lines are shares of a whole, one above the other
	Times   []time.Time
	Lines   []Line
}

// Line is one series of a chart.
type Line struct {
	Name   string
	Values []float64
}

// last is the newest value; NaN if there is none.
func (l Line) last() float64 {
	if len(l.Values) == 0 {
		return math.NaN()
	}
	return l.Values[len(l.Values)-1]
}

// Table is a list with a caption. If Shares is set, each row has a bar of that share, from 0 to 1.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string
	Shares  []float64
	Empty   string // shown if there are no rows
}
