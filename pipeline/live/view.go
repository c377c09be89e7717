package live

import (
	"time"

	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// View is the content of the page.
type View struct {
	Title   string   // of the page, such as the output of a run
	State   string   // what happens, in words
	Notes   []string // sentences about the state
	Since   time.Time
	Ended   bool // nothing changes any more
	Trouble bool // the state needs attention
	Done    int64
	Total   int64    // 0 if unknown: the page then has no bar
	Main    []Figure // the larger ones
	Figures []Figure
	Charts  []figures.Chart
	Tables  []Table

	Settings [][2]string // names and values, without secrets
}

// Figure is a number with its name.
type Figure struct {
	Name, Value string
	Detail      string // such as a comparison; may be empty
}

// Table is a list with a caption. If Shares is set, each row has a bar of that share, from 0 to 1, below the name Share; a
// share below 0 has none.
type Table struct {
	Title   string
	Wide    bool // as wide as the page
	Columns []Cell
	Rows    [][]Cell
	Shares  []float64
	Share   string // default "share"
	Empty   string // shown if there are no rows
}

// Cell is a text, with a second one below it that may be empty.
type Cell struct {
	Text, Detail string
	Number       bool // at the right of its column
}

// texts are cells of a row.
func texts(list ...string) (row []Cell) {
	for _, text := range list {
		row = append(row, Cell{Text: text})
	}
	return row
}

func number(text string) Cell { return Cell{Text: text, Number: true} }
