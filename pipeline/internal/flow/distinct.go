package flow

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"

	"github.com/bulkcat/bulkcat/pipeline/internal/spill"
)

// use says in which modes of dedupe a request is made, and whether the store has its outcome.
type use byte

// The modes are in the order of account.Dedupes.
const (
	exactly  use = 1 << iota // in a run by exact spellings
	bySite                   // in a run by sites
	byHost                   // in a run by hosts
	byDomain                 // in a run by domains
	answered                 // the store has the outcome

	uses = 1 << iota // number of combinations
)

// distinct counts different requests by their uses. Memory does not grow with the number of requests.
type distinct struct{ spill *spill.Spill }

// hashSize is in bytes of SHA-256. Among ten million requests, two have equal hashes with a probability of
// about 10⁻²⁴.
const hashSize = 16

func newDistinct() distinct { return distinct{spill.New("")} }

// close removes the temporary files.
func (d distinct) close() error { return d.spill.Close() }

// add adds a use of a request.
func (d distinct) add(request string, u use) error {
	sum := sha256.Sum256([]byte(request))
	var entry [hashSize + 1]byte
	copy(entry[:], sum[:hashSize])
	entry[hashSize] = byte(u)
	return d.spill.Add(entry[:])
}

// tally counts requests by their uses.
type tally struct {
	counts  [uses]int64
	digests [uses][hashSize]byte // the exclusive or of the hashes, which does not depend on their order
}

// of is the number of requests that have all wanted uses, and perhaps others.
func (t *tally) of(wanted use) (n int64) {
	for u, count := range t.counts {
		if use(u)&wanted == wanted {
			n += count
		}
	}
	return n
}

// digest is equal for equal sets of requests that have all wanted uses.
func (t *tally) digest(wanted use) string {
	var all [hashSize]byte
	for u := range t.digests {
		if use(u)&wanted == wanted {
			subtle.XORBytes(all[:], all[:], t.digests[u][:])
		}
	}
	return hex.EncodeToString(all[:])
}

func (t *tally) toAsk(mode use) int64 { return t.of(mode) - t.of(mode|answered) }

// count reads the entries: those of a request follow each other.
func (d distinct) count() (t tally, err error) {
	var hash [hashSize]byte
	var u use
	end := func() {
		if u != 0 {
			t.counts[u]++
			subtle.XORBytes(t.digests[u][:], t.digests[u][:], hash[:])
		}
	}
	for entry, err := range d.spill.Sorted() {
		if err != nil {
			return tally{}, err
		}
		if [hashSize]byte(entry) != hash {
			end()
			hash, u = [hashSize]byte(entry), 0
		}
		u |= use(entry[hashSize])
	}
	end()
	return t, nil
}
