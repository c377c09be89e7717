package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteJSON writes the summary as one line.
func (s Summary) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// WriteText writes the counts as lines of text.
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
	_, err := io.WriteString(out, b.String())
	return err
}

func duplicates(f Figures) string {
	if f.Duplicates == 0 {
		return ""
	}
	return fmt.Sprintf("  (%d with an input that an earlier record has)", f.Duplicates)
}

// mostInMatrix bounds the categories of a matrix, so that it fits into a terminal. The rest is one row and column.
const mostInMatrix = 12

// WriteMatrix writes the moves as a matrix for each classification: rows are the old categories, columns the new ones, by
// number. Keys on the diagonal did not move.
func (s Summary) WriteMatrix(out io.Writer) error {
	var b strings.Builder
	for len(s.Moves) > 0 {
		name := s.Moves[0].Classification
		n := slices.IndexFunc(s.Moves, func(m Move) bool { return m.Classification != name })
		if n < 0 {
			n = len(s.Moves)
		}
		fmt.Fprintf(&b, "\n%s, level %d: old categories down, new ones across\n", name, s.Level)
		writeMatrix(&b, s.Moves[:n])
		s.Moves = s.Moves[n:]
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func writeMatrix(b *strings.Builder, moves []Move) {
	names := largest(moves)
	index := make(map[string]int, len(names))
	for i, name := range names {
		index[name] = i
	}
	place := func(name string) int {
		if i, ok := index[name]; ok {
			return i
		}
		return index[Others]
	}
	counts := make([][]int64, len(names))
	for i := range counts {
		counts[i] = make([]int64, len(names))
	}
	width := 3
	for _, m := range moves {
		n := &counts[place(m.Old)][place(m.New)]
		*n += m.Inputs
		width = max(width, len(strconv.FormatInt(*n, 10)))
	}
	label := 0
	for _, name := range names {
		label = max(label, min(utf8.RuneCountInString(name), mostLabel))
	}
	fmt.Fprintf(b, "%*s", label+4, "")
	for i := range names {
		fmt.Fprintf(b, " %*d", width, i+1)
	}
	b.WriteByte('\n')
	for i, name := range names {
		fmt.Fprintf(b, "%3d %s", i+1, pad(name, label))
		for _, n := range counts[i] {
			if n == 0 {
				fmt.Fprintf(b, " %*s", width, ".")
			} else {
				fmt.Fprintf(b, " %*d", width, n)
			}
		}
		b.WriteByte('\n')
	}
}

// mostLabel is the most characters of a category beside a matrix.
const mostLabel = 40

func pad(name string, n int) string {
	runes := []rune(name)
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return name + strings.Repeat(" ", n-len(runes))
}

// largest returns the categories with the most moves away and to them, then those with the most keys; at the end others,
// if some are left out.
func largest(moves []Move) []string {
	type total struct{ moved, all int64 }
	totals := make(map[string]*total)
	add := func(name string, m Move) {
		t := totals[name]
		if t == nil {
			t = new(total)
			totals[name] = t
		}
		t.all += m.Inputs
		if m.Old != m.New {
			t.moved += m.Inputs
		}
	}
	for _, m := range moves {
		add(m.Old, m)
		add(m.New, m)
	}
	_, had := totals[Others]
	delete(totals, Others)
	var names []string
	for name := range totals {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(totals[b].moved, totals[a].moved), cmp.Compare(totals[b].all, totals[a].all), cmp.Compare(a, b))
	})
	if len(names) > mostInMatrix {
		names, had = names[:mostInMatrix], true
	}
	if had {
		names = append(names, Others)
	}
	return names
}
