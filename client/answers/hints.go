package answers

import "sync/atomic"

const (
	hintSlots    = 4 << 20 // 32 MiB
	bucketSlots  = 8       // one line of the processor's cache
	positionBits = 40      // of a slot, and the tag has the rest; answers beyond have no hints
	mostHinted   = 1<<positionBits - 1

	// unhinted answers are sought by their keys before there are hints. An input whose answers
	// come in order has a few hundred such at its beginning, and to leave hints at all the
	// others would take 7% of the time of its lookups (BenchmarkLookup).
	unhinted = 4 << 10
)

// hints say where the answers to some million keys probably lie: those that were stored,
// read ahead or sought last. An input that comes again far from its first place is then
// sought among the answers at once, and not among the keys before, whose blocks memory
// can't hold: at 8 bytes a key, hints have room for several times as many. A run over
// answered duplicates takes a quarter to a third less time with them.
//
// A hint may be wrong, as hashes are alike and answers are replaced: who follows one has to
// compare the key in the answer. hints are safe for concurrent use, and ready as they are.
type hints struct {
	found atomic.Int64                             // by key, while there are no hints
	slots atomic.Pointer[[hintSlots]atomic.Uint64] // a tag, of the hash, and a position; 0 is empty
}

// wanted says whether there are hints: many answers were sought by their keys.
func (h *hints) wanted() bool { return h.slots.Load() != nil }

// foundByKey tells of an answer without a hint.
func (h *hints) foundByKey(hash uint64, at position) {
	if !h.wanted() {
		if h.found.Add(1) < unhinted {
			return
		}
		h.begin()
	}
	h.add(hash, at)
}

func (h *hints) begin() { h.slots.CompareAndSwap(nil, new([hintSlots]atomic.Uint64)) }

// bucket gives the slots of a hash, none if there is no hint at all, and its tag.
func (h *hints) bucket(hash uint64) (slots []atomic.Uint64, tag uint64) {
	tag = hash << positionBits
	all := h.slots.Load()
	if all == nil {
		return nil, tag
	}
	n := hash >> (64 - positionBits) % (hintSlots / bucketSlots) * bucketSlots
	return all[n : n+bucketSlots], tag
}

// lead gives what is hinted at, the latest if that is more than one; 0 for nothing.
func (h *hints) lead(hash uint64) (at position) {
	slots, tag := h.bucket(hash)
	for i := range slots {
		if slot := slots[i].Load(); slot&^mostHinted == tag {
			at = max(at, position(slot&mostHinted))
		}
	}
	return at
}

// find fills in the positions of the first n: it moves those to which there are hints there.
func (h *hints) find(missing []sought) (n int) {
	for i := range missing {
		if at := h.lead(missing[i].hash); at != 0 {
			missing[i].position, missing[i].hinted = at, true
			missing[n], missing[i] = missing[i], missing[n]
			n++
		}
	}
	return n
}

// add hints at a position if hints are wanted. Where there is no room, the hint at the oldest
// answer goes.
func (h *hints) add(hash uint64, at position) {
	if at > mostHinted || !h.wanted() {
		return
	}
	slots, tag := h.bucket(hash)
	hint := tag | uint64(at)
	oldest := 0
	for i := range slots {
		slot := slots[i].Load()
		if slot == hint {
			return
		}
		if slot&mostHinted < slots[oldest].Load()&mostHinted {
			oldest = i
		}
	}
	slots[oldest].Store(hint)
}
