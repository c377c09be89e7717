package diff

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// columns are the columns that a comparison reads.
var columns = []writer.ColumnID{writer.ColumnRecord, writer.ColumnInput, writer.ColumnStatus, writer.ColumnClassification,
	writer.ColumnRank, writer.ColumnValue, writer.ColumnCategoryID, writer.ColumnConfidence}

// The sides, in the order of their entries.
const (
	isOld = iota
	isNew
)

// read adds an entry for each record of a side: its key, the side, and its version. The sorted entries of a key are adjacent, the
// entries of the old side first. The first entry of a side has the lowest record.
func (c *comparison) read(ctx context.Context, side Side, which byte) error {
	var entry []byte
	for g, err := range readback.Groups(ctx, side.Parts, columns...) {
		if err != nil {
			return err
		}
		best := &g.Rows[0]
		for i := range g.Rows {
			if cmp.Less(best.Confidence, g.Rows[i].Confidence) { // NaN is below all numbers
				best = &g.Rows[i]
			}
		}
		c.last = max(c.last, best.Record)
		key := c.key(best.Input)
		entry = binary.BigEndian.AppendUint64(entry[:0], xxhash.Sum64String(key))
		entry = append(appendTexts(entry, key, best.Classification), which)
		entry = appendVersion(entry, &Version{best.Record, best.Status, best.Value, best.CategoryID, best.Confidence})
		if err := c.versions.Add(appendTexts(entry, best.Input)); err != nil {
			return err
		}
	}
	return nil
}

// compare compares the two versions of each key.
func (c *comparison) compare(ctx context.Context) error {
	var key []byte // the encoded key
	var now Change
	for entry, err := range c.versions.Sorted() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		rest := entry[8:] // after the hash
		_, classification := readText(&rest), readText(&rest)
		size := len(entry) - len(rest)
		if string(entry[:size]) != string(key) {
			if err := c.end(&now); err != nil {
				return err
			}
			key, now = append(key[:0], entry[:size]...), Change{Classification: classification}
		}
		figures, version := &c.Summary.Old, &now.Old
		if rest[0] == isNew {
			figures, version = &c.Summary.New, &now.New
		}
		rest = rest[1:]
		v := readVersion(&rest)
		if figures.Records++; *version != nil {
			figures.Duplicates++
			continue
		}
		*version, now.Input = v, readText(&rest)
	}
	return c.end(&now)
}

// end counts a key, and keeps its change.
func (c *comparison) end(change *Change) error {
	if change.Old == nil && change.New == nil {
		return nil // before the first
	}
	change.Kind, change.Level = kindOf(change.Classification, change.Old, change.New)
	c.count(change)
	if change.Kind == "" || c.Use == nil {
		return nil
	}
	return c.changes.Add(c.appendChange(change))
}

// use calls Use with the changes, in their order.
func (c *comparison) use(ctx context.Context) error {
	for entry, err := range c.changes.Sorted() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = c.Use(readChange(entry))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendChange returns the entry of a change. Entries sort by their new records. Entries without a new record follow, and sort by
// their old records. Records are shifted to the left, so that the first bytes of entries differ even if there are few records.
func (c *comparison) appendChange(change *Change) []byte {
	shift := bits.LeadingZeros64(uint64(c.last)) - 1 // the highest bit marks entries without a new record
	record := func(v *Version) uint64 {
		if v == nil {
			return math.MaxUint64
		}
		return uint64(v.Record) << shift
	}
	first := record(change.New)
	if change.New == nil {
		first = 1<<63 | record(change.Old)
	}
	entry := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, first), record(change.Old))
	entry = appendTexts(entry, change.Classification, change.Input)
	return appendVersion(appendVersion(entry, change.Old), change.New)
}

func readChange(entry []byte) (change Change) {
	entry = entry[16:] // after the records
	change.Classification, change.Input = readText(&entry), readText(&entry)
	change.Old, change.New = readVersion(&entry), readVersion(&entry)
	change.Kind, change.Level = kindOf(change.Classification, change.Old, change.New)
	return change
}

// appendVersion appends a version to an entry; the record 0 says that there is none. The record is first, so that the versions
// of a key sort by record.
func appendVersion(to []byte, v *Version) []byte {
	if v == nil {
		return binary.BigEndian.AppendUint64(to, 0)
	}
	to = binary.BigEndian.AppendUint64(to, uint64(v.Record))
	to = binary.BigEndian.AppendUint64(to, math.Float64bits(v.Confidence))
	return appendTexts(to, string(v.Status), v.Value, v.CategoryID)
}

func readVersion(from *[]byte) *Version {
	var v Version
	if v.Record = int64(readUint64(from)); v.Record == 0 {
		return nil
	}
	v.Confidence = math.Float64frombits(readUint64(from))
	v.Status, v.Value, v.CategoryID = writer.Status(readText(from)), readText(from), readText(from)
	return &v
}

func readUint64(from *[]byte) uint64 {
	n := binary.BigEndian.Uint64(*from)
	*from = (*from)[8:]
	return n
}

// appendTexts appends texts with their lengths.
func appendTexts(to []byte, texts ...string) []byte {
	for _, text := range texts {
		to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
	}
	return to
}

// readText reads a text that this process has written.
func readText(from *[]byte) string {
	n, size := binary.Uvarint(*from)
	end := size + int(n)
	text := string((*from)[size:end])
	*from = (*from)[end:]
	return text
}
