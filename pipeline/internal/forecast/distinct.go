package forecast

import (
	"crypto/subtle"
	"encoding/hex"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/internal/spill"
)

// Use says in which modes of dedupe a request is made, and whether the store has its outcome.
type Use byte

// The modes are in the order of account.Dedupes.
const (
	Exactly  Use = 1 << iota // a run with DedupeExact makes the request
	BySite                   // a run with DedupeSite makes the request
	ByHost                   // a run with dedupe by host makes the request
	ByDomain                 // a run with dedupe by domain makes the request
	Answered                 // the store has the outcome

	uses = 1 << iota // number of combinations
)

// Distinct counts different requests by their uses. Memory does not grow with the number of requests.
type Distinct struct{ spill *spill.Spill }

// NewDistinct starts a count. The caller closes it.
func NewDistinct() Distinct { return Distinct{spill.New("")} }

// Close removes the temporary files.
func (d Distinct) Close() error { return d.spill.Close() }

// Add adds a use of a request.
func (d Distinct) Add(r client.Request, u Use) error {
	id := spill.IDOf(r.Classification, r.Input)
	return d.spill.Add(append(id[:], byte(u)))
}

// Tally counts requests by their uses.
type Tally struct {
	counts  [uses]int64
	digests [uses]spill.ID // the XOR of the hashes, which does not depend on their order
}

// Of returns the number of requests that have at least the wanted uses.
func (t *Tally) Of(wanted Use) (n int64) {
	for u, count := range t.counts {
		if Use(u)&wanted == wanted {
			n += count
		}
	}
	return n
}

// Digest returns a digest of the set of requests that have at least the wanted uses.
func (t *Tally) Digest(wanted Use) string {
	var all spill.ID
	for u := range t.digests {
		if Use(u)&wanted == wanted {
			subtle.XORBytes(all[:], all[:], t.digests[u][:])
		}
	}
	return hex.EncodeToString(all[:])
}

// ToAsk returns the number of requests in a mode whose outcomes the store lacks.
func (t *Tally) ToAsk(mode Use) int64 { return t.Of(mode) - t.Of(mode|Answered) }

// Count counts the requests. The sorted entries of a request are adjacent.
func (d Distinct) Count() (t Tally, err error) {
	var id spill.ID
	var u Use
	end := func() {
		if u != 0 {
			t.counts[u]++
			subtle.XORBytes(t.digests[u][:], t.digests[u][:], id[:])
		}
	}
	for entry, err := range d.spill.Sorted() {
		if err != nil {
			return Tally{}, err
		}
		if next := spill.ID(entry); next != id {
			end()
			id, u = next, 0
		}
		u |= Use(entry[len(id)])
	}
	end()
	return t, nil
}
