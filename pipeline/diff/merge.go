package diff

import (
	"container/heap"
	"context"
	"encoding/binary"
	"io"
	"slices"
)

// appendChange appends a change to the block of a partition of changes.
func (c *comparison) appendChange(to []byte, change *Change) []byte {
	to = append(to, byte(slices.Index(Kinds, change.Kind)))
	to = binary.AppendUvarint(to, uint64(change.Level))
	to = c.words.append(to, change.Classification)
	to = appendText(to, change.Input)
	if change.Old != nil {
		to = c.words.appendVersion(to, change.Old)
	}
	if change.New != nil {
		to = c.words.appendVersion(to, change.New)
	}
	return to
}

func (c *comparison) readChange(from *[]byte) (change Change) {
	change.Kind = Kinds[(*from)[0]]
	*from = (*from)[1:]
	change.Level = int(readUvarint(from))
	change.Classification, change.Input = c.words.read(from), string(readBytes(from))
	if change.Kind != Added {
		v := c.words.readVersion(from)
		change.Old = &v
	}
	if change.Kind != Removed {
		v := c.words.readVersion(from)
		change.New = &v
	}
	return change
}

// stream is a partition of changes that is being merged.
type stream struct {
	blocks *blockReader
	block  []byte
	change Change
}

// next reads the next change; false at the end.
func (s *stream) next(c *comparison) (bool, error) {
	for len(s.block) == 0 {
		block, err := s.blocks.block()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		s.block = block
	}
	s.change = c.readChange(&s.block)
	return true, nil
}

// streams is a heap by the next change.
type streams []*stream

func (s streams) Len() int           { return len(s) }
func (s streams) Less(i, j int) bool { return s[i].change.compare(&s[j].change) < 0 }
func (s streams) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *streams) Push(x any)        { *s = append(*s, x.(*stream)) }
func (s *streams) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// merge calls Use with the changes of all partitions, in order.
func (c *comparison) merge(ctx context.Context, changes *spill) error {
	if c.Use == nil {
		return nil
	}
	var list streams
	for k := range changes.partitions {
		s := &stream{blocks: changes.read(k)}
		more, err := s.next(c)
		if err != nil {
			return err
		}
		if more {
			list = append(list, s)
		}
	}
	heap.Init(&list)
	for n := 0; len(list) > 0; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.Use(list[0].change); err != nil {
			return err
		}
		more, err := list[0].next(c)
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&list, 0)
		default:
			heap.Pop(&list)
		}
	}
	return nil
}
