package answers

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// filter holds all keys of a store that was empty when it was opened, so that nobody looks
// on disk for what has never been there: looking in vain takes a twentieth of the first
// run over an input. It is safe for concurrent use.
//
// It is a Bloom filter whose keys have all their bits in one word. With 5,000,000 keys it
// takes 1% of those that are not there for some that may be, with 10,000,000 5%, with
// 50,000,000 80%. It never strikes a key that is there. A nil filter strikes none.
type filter struct {
	words [filterWords]atomic.Uint64
}

const (
	filterWords = 1 << 20
	filterBytes = 8 * filterWords // of which the system gives what is used
	keyBits     = 4               // of its word, at most
)

// place gives the word of a key's hash, and its bits in it.
func (f *filter) place(hash uint64) (word *atomic.Uint64, mask uint64) {
	for i := range keyBits {
		mask |= 1 << (hash >> (6 * i) & 63)
	}
	return &f.words[hash>>(64-bits.Len64(filterWords-1))], mask
}

// add adds keys by their hashes. All words are read before any is changed: the processor
// fetches many at once to read them, but to change them one after the other.
func (f *filter) add(hashes []uint64) {
	if f == nil {
		return
	}
	for _, hash := range hashes {
		word, _ := f.place(hash)
		word.Load()
	}
	for _, hash := range hashes {
		word, mask := f.place(hash)
		word.Or(mask)
	}
}

// mayHave is false for most keys that were not added.
func (f *filter) mayHave(hash uint64) bool {
	word, mask := f.place(hash)
	return word.Load()&mask == mask
}

// strike removes those whose keys were not added.
func (f *filter) strike(missing []sought) []sought {
	if f == nil {
		return missing
	}
	return slices.DeleteFunc(missing, func(w sought) bool { return !f.mayHave(w.hash) })
}
