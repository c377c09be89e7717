package diff

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteText writes the counts and the largest moves as lines of text.
func (s Summary) WriteText(out io.Writer) error {
	var b strings.Builder
	line := func(name string, n int64, note string) { fmt.Fprintf(&b, "%-12s%12d%s\n", name, n, note) }
	line("old", s.Old.Records, duplicates(s.Old))
	line("new", s.New.Records, duplicates(s.New))
	line("unchanged", s.Unchanged, "")
	for _, kind := range Kinds {
		line(string(kind), s.Changes[kind], "")
		if kind != Category {
			continue
		}
		for i, n := range s.Levels {
			line("  level "+strconv.Itoa(i+1), n, "")
		}
	}
	s.writeMoves(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func duplicates(f Counts) string {
	if f.Duplicates == 0 {
		return ""
	}
	return fmt.Sprintf("  (%d with an input that an earlier record has)", f.Duplicates)
}

// mostMoved is the maximum number of moves in the text. The JSON has all moves.
const mostMoved = 10

// writeMoves writes the largest moves from one category to another.
func (s Summary) writeMoves(b *strings.Builder) {
	moved := slices.DeleteFunc(slices.Clone(s.Moves), func(m Move) bool { return m.Old == m.New })
	if len(moved) == 0 {
		return
	}
	slices.SortStableFunc(moved, func(a, b Move) int { return cmp.Compare(b.Inputs, a.Inputs) })
	fmt.Fprintf(b, "\nlargest moves at level %d\n", s.Level)
	for _, m := range moved[:min(len(moved), mostMoved)] {
		fmt.Fprintf(b, "%12d  %s: %s to %s\n", m.Inputs, m.Classification, m.Old, m.New)
	}
	if more := len(moved) - mostMoved; more > 0 {
		fmt.Fprintf(b, "%12s  and %d more moves\n", "", more)
	}
}
