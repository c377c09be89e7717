package gateway

import (
	"container/heap"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded"
)

// account is a key with its calls that have not been asked.
type account struct {
	key     *embedded.Key
	waiting []*call // in order of arrival
	virtual float64 // time: attempts divided by the priority
	index   int     // in fairQueue.active; -1 while nothing waits
}

// fairQueue is a weighted fair queue over keys; see the package comment.
type fairQueue struct {
	accounts map[*embedded.Key]*account
	active   accountHeap // accounts with waiting calls
	virtual  float64     // that of the account that was served last, before it was served
	weights  int         // the sum of the priorities of active accounts
	length   int         // calls
}

func newFairQueue() fairQueue { return fairQueue{accounts: map[*embedded.Key]*account{}} }

func (q *fairQueue) account(key *embedded.Key) *account {
	a, ok := q.accounts[key]
	if !ok {
		a = &account{key: key, index: -1}
		q.accounts[key] = a
	}
	return a
}

func (q *fairQueue) push(c *call) {
	a := q.account(c.key)
	if a.index < 0 {
		a.virtual = max(a.virtual, q.virtual)
		heap.Push(&q.active, a)
		q.weights += a.key.Priority()
	}
	a.waiting = append(a.waiting, c)
	q.length++
}

// pop takes the next call; nil if none waits.
func (q *fairQueue) pop() *call {
	if len(q.active) == 0 {
		return nil
	}
	a := q.active[0]
	q.virtual = a.virtual
	c := a.waiting[0]
	a.waiting[0] = nil
	a.waiting = a.waiting[1:]
	q.length--
	if len(a.waiting) == 0 {
		heap.Pop(&q.active)
		q.weights -= a.key.Priority()
	}
	q.advance(c.key)
	return c
}

// advance counts an attempt of a key.
func (q *fairQueue) advance(key *embedded.Key) {
	a := q.account(key)
	a.virtual += 1 / float64(key.Priority())
	if a.index >= 0 {
		heap.Fix(&q.active, a.index)
	}
}

const (
	// queued is how long the queue of a key may be: shorter than patience. A client that adapts to the
	// latency meets no refusals, which come seconds before the answers and would mislead the client.
	queued = 10 * time.Second

	leastQueued = 8     // calls of a key, at low rates
	mostQueued  = 10000 // calls of a key, at high rates
)

// full reports whether a key has as many calls waiting as it may have at a rate in requests a second.
func (q *fairQueue) full(key *embedded.Key, rate float64) bool {
	a := q.account(key)
	weights := q.weights
	if a.index < 0 {
		weights += key.Priority()
	}
	share := rate * float64(key.Priority()) / float64(weights)
	return len(a.waiting) >= int(min(max(share*queued.Seconds(), leastQueued), mostQueued))
}

// accountHeap is a heap of accounts, the lowest virtual time first.
type accountHeap []*account

func (h accountHeap) Len() int           { return len(h) }
func (h accountHeap) Less(i, j int) bool { return h[i].virtual < h[j].virtual }
func (h accountHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *accountHeap) Push(a any) {
	a.(*account).index = len(*h)
	*h = append(*h, a.(*account))
}

func (h *accountHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.index = -1
	return a
}
