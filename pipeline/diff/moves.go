package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/readback"
)

// count adds a key to the summary.
func (c *comparison) count(change *Change) {
	s := &c.Summary
	if change.Kind == "" {
		s.Unchanged++
	} else {
		s.Changes[change.Kind]++
	}
	for len(s.Levels) < change.Level {
		s.Levels = append(s.Levels, 0)
	}
	if change.Level > 0 {
		s.Levels[change.Level-1]++
	}
	key := Move{change.Classification, c.place(change.Classification, change.Old), c.place(change.Classification, change.New), 0}
	if _, ok := c.moves[key]; !ok && len(c.moves) >= mostMoves {
		key.Old, key.New = Others, Others
	}
	c.moves[key]++
}

// place returns the category of a version at Level, for a Move.
func (c *comparison) place(classification string, v *Version) string {
	switch {
	case v == nil:
		return Absent
	case v.Value == "":
		return NoCategory
	}
	levels := readback.Levels(classification, v.Value)
	levels = levels[:min(c.Level, len(levels))]
	if readback.IsCoded(classification) {
		return levels[len(levels)-1]
	}
	return strings.Join(levels, " > ")
}

func (c *comparison) sortedMoves() []Move {
	list := []Move{}
	for move, n := range c.moves {
		move.Inputs = n
		list = append(list, move)
	}
	slices.SortFunc(list, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.Classification, b.Classification), cmp.Compare(b.Inputs, a.Inputs), cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New))
	})
	return list
}
