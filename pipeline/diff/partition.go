package diff

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"
)

// entry is a key of a partition, with the versions of both sides.
type entry struct {
	key            []byte // see comparison.key
	input          []byte // as the side that was read last has it; empty if it is the key
	classification string
	old, new       Version
	inOld, inNew   bool
	next           int32 // the next entry of the same hash; -1 for none
}

// table has the entries of a partition.
type table struct {
	first   map[uint64]int32 // by hash
	entries []entry
	texts   []byte // the memory of keys and inputs
}

// find returns the entry of a key, which it adds if there is none.
func (t *table) find(hash uint64, classification string, key []byte) *entry {
	at, ok := t.first[hash]
	if !ok {
		at = -1
	}
	for k := at; k >= 0; k = t.entries[k].next {
		if e := &t.entries[k]; e.classification == classification && string(e.key) == string(key) {
			return e
		}
	}
	t.entries = append(t.entries, entry{key: t.keep(key), classification: classification, next: at})
	t.first[hash] = int32(len(t.entries) - 1)
	return &t.entries[len(t.entries)-1]
}

// keep copies a text, which is valid until the next block.
func (t *table) keep(text []byte) []byte {
	if len(t.texts)+len(text) > cap(t.texts) {
		t.texts = make([]byte, 0, max(1<<20, len(text)))
	}
	begin := len(t.texts)
	t.texts = append(t.texts, text...)
	return t.texts[begin:]
}

// compare compares a partition, and writes its changes, in order, into the partition of changes.
func (c *comparison) compare(k int, old, fresh, changes *spill) error {
	t := table{first: make(map[uint64]int32)}
	err := c.load(old.read(k), &c.Summary.Old, &t, func(e *entry) (*Version, *bool) { return &e.old, &e.inOld })
	if err != nil {
		return err
	}
	err = c.load(fresh.read(k), &c.Summary.New, &t, func(e *entry) (*Version, *bool) { return &e.new, &e.inNew })
	if err != nil {
		return err
	}
	var changed []Change
	for i := range t.entries {
		e := &t.entries[i]
		input := e.input
		if len(input) == 0 {
			input = e.key
		}
		change := Change{Input: string(input), Classification: e.classification, Old: &e.old, New: &e.new}
		if !e.inOld {
			change.Old = nil
		}
		if !e.inNew {
			change.New = nil
		}
		change.Kind, change.Level = kindOf(e.classification, change.Old, change.New)
		c.count(&change)
		if change.Kind != "" && c.Use != nil {
			changed = append(changed, change)
		}
	}
	slices.SortFunc(changed, func(a, b Change) int { return a.compare(&b) })
	p := &changes.partitions[k]
	for i := range changed {
		p.buffer = c.appendChange(p.buffer, &changed[i])
		if err := changes.written(p); err != nil {
			return err
		}
	}
	return nil
}

// load adds the versions of a side to the table.
func (c *comparison) load(blocks *blockReader, figures *Figures, t *table, of func(*entry) (*Version, *bool)) error {
	for {
		block, err := blocks.block()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for len(block) > 0 {
			hash := readUint64(&block)
			classification := c.words.read(&block)
			e := t.find(hash, classification, readBytes(&block))
			input := readBytes(&block)
			v := c.words.readVersion(&block)
			version, is := of(e)
			figures.Records++
			if *is {
				figures.Duplicates++
			}
			if !*is || v.Record < version.Record {
				*version, *is, e.input = v, true, t.keep(input)
			}
		}
	}
}

// compare orders changes by the new record, and those without one by the old record after all others.
func (c *Change) compare(other *Change) int {
	newA, oldA := c.records()
	newB, oldB := other.records()
	return cmp.Or(cmp.Compare(newA, newB), cmp.Compare(oldA, oldB), cmp.Compare(c.Classification, other.Classification), cmp.Compare(c.Input, other.Input))
}

func (c *Change) records() (fresh, old int64) {
	fresh, old = math.MaxInt64, math.MaxInt64
	if c.New != nil {
		fresh = c.New.Record
	}
	if c.Old != nil {
		old = c.Old.Record
	}
	return fresh, old
}

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
	key := moveKey{change.Classification, c.place(change.Classification, change.Old), c.place(change.Classification, change.New)}
	if _, ok := c.moves[key]; !ok && len(c.moves) >= mostMoves {
		key.old, key.new = Others, Others
	}
	c.moves[key]++
}

type moveKey struct{ classification, old, new string }

// place is the category of a version at the level of the moves.
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
	levels := levelsOf(classification, v.Value)
	if len(levels) == 0 {
		return v.Value
	}
	place := levels[min(c.Level, len(levels))-1]
	if separator := " > "; strings.Contains(v.Value, separator) {
		place = strings.Join(levels[:min(c.Level, len(levels))], separator)
	}
	if len(c.places) < mostWords {
		c.places[placeKey{classification, v.Value}] = place
	}
	return place
}

type placeKey struct{ classification, value string }

func (c *comparison) sortedMoves() []Move {
	list := []Move{}
	for key, n := range c.moves {
		list = append(list, Move{key.classification, key.old, key.new, n})
	}
	slices.SortFunc(list, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.Classification, b.Classification), cmp.Compare(b.Inputs, a.Inputs), cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New))
	})
	return list
}
