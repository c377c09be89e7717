package pipeline

import (
	"unsafe"

	"github.com/bulkcat/bulkcat/writer"
)

// categories keeps what has been worked out of the categories met: a taxonomy has few,
// answers name them again and again.
type categories struct {
	schema writer.Schema
	known  func(value string) bool // nil where no taxonomy is
	slots  [1 << categoryBits]category
}

// category is what is worked out of one.
type category struct {
	value  string
	levels []string
	known  bool
}

// categoryBits make more slots than most taxonomies have categories. Those that share a
// slot take turns, which costs time only.
const categoryBits = 12

// of gives what is worked out of a category, for use until the next call. Its slot is
// found by where the text lies: equal texts of answers mostly lie at one place (see client/decode.go),
// and to hash them takes longer than all else here (a map: 40 ns, this: 4).
func (c *categories) of(value string) *category {
	place := uint64(uintptr(unsafe.Pointer(unsafe.StringData(value))))
	slot := &c.slots[place*0x9E3779B97F4A7C15>>(64-categoryBits)] // Fibonacci hashing
	if slot.value != value || slot.levels == nil {
		*slot = category{
			value:  value,
			levels: c.schema.AppendLevels([]string{}, value),
			known:  c.known == nil || c.known(value),
		}
	}
	return slot
}
