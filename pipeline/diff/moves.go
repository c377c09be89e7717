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

// mostPlaces bounds the memory of places.
const mostPlaces = 1 << 17

// place returns the category of a version at Level, for a Move.
func (c *comparison) place(classification string, v *Version) string {
	switch {
	case v == nil:
		return Absent
	case v.Value == "":
		return NoCategory
	}
	if levels, ok := c.places[placeKey{classification, v.Value}]; ok {
		return levels
	}
	levels := readback.Levels(classification, v.Value)
	place := levels[min(c.Level, len(levels))-1]
	if separator := " > "; strings.Contains(v.Value, separator) {
		place = strings.Join(levels[:min(c.Level, len(levels))], separator)
	}
	if len(c.places) < mostPlaces {
		c.places[placeKey{classification, v.Value}] = place
	}
	return place
}

type placeKey struct{ classification, value string }

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
