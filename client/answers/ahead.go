package answers

import (
	"math"
	"slices"
	"sync"
)

const (
	chunkBytes  = 128 << 10 // of records, or a single longer pack
	aheadBytes  = 256 << 10 // of the log behind the cluster
	windowBytes = 4 << 20   // of records; the rest of the window lies before the cluster

	// reach is how far apart in the log two records may lie that were stored one after the other: up to as many records
	// lie between them as requests were in flight.
	reach place = 128 << 10

	// minCrowd places are enough to tell requests in order from requests in no order.
	minCluster = 16
)

// readAhead is a window of the log that is read before its records are asked for. Inputs mostly
// come again in the order in which they were first asked, which is the order of the log.
//
// The window follows the cluster: the quarter of the places of a batch's answers that lies closest together. Late
// answers, and answers to inputs that are repeated often, do not move the window. Without a cluster nothing is read
// ahead.
type readAhead struct {
	mu      sync.Mutex
	end     place // of the log when the store was opened; newer records are not read ahead
	chunks  []chunk
	records map[string]recordRef // by key, of all chunks in the window
	bytes   int
}

// take moves the keys whose records the window has to the front, with their records, and returns
// how many these are.
func (a *readAhead) take(wanted []recordRef) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range wanted {
		if r, ok := a.records[string(wanted[i].key)]; ok {
			wanted[i].place, wanted[i].record = r.place, r.record
			wanted[n], wanted[i] = wanted[i], wanted[n]
			n++
		}
	}
	return n
}

// follow moves the window to where a batch has found its answers.
func (a *readAhead) follow(s *Store, places []place) {
	slices.Sort(places)
	cluster, extent := clusterOf(places)
	if extent > reach || cluster >= a.end {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.chunks); n == 0 || cluster < a.chunks[0].from || cluster >= a.chunks[n-1].to {
		if len(places) < minCluster {
			return
		}
		i, _ := slices.BinarySearch(places, cluster-min(reach, cluster))
		a.records, a.bytes = make(map[string]recordRef), 0
		a.chunks = append(a.chunks[:0], chunk{from: places[i], to: places[i]})
	}
	for at := a.chunks[len(a.chunks)-1].to; at < a.end && (at < cluster || at-cluster < aheadBytes); {
		s.making.RLock()
		c, err := s.readLive(at, chunkBytes)
		s.making.RUnlock()
		if err != nil || c.to == c.from {
			return // the lookup that needs the record returns the error
		}
		a.add(c)
		at = c.to
	}
}

// add adds a chunk at the end of the window, and drops chunks from its beginning.
func (a *readAhead) add(c chunk) {
	for _, r := range c.records {
		a.records[string(r.key)] = r
	}
	a.chunks = append(a.chunks, c)
	a.bytes += c.bytes
	n := 0
	for ; a.bytes > windowBytes && n < len(a.chunks)-1; n++ {
		a.bytes -= a.chunks[n].bytes
		for _, r := range a.chunks[n].records {
			delete(a.records, string(r.key))
		}
	}
	a.chunks = slices.Delete(a.chunks, 0, n)
}

// forget drops records that newer ones may have replaced.
func (a *readAhead) forget(newer []recordRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range newer {
		delete(a.records, string(w.key))
	}
}

// clusterOf returns the middle of the quarter of sorted places that lies closest together, and
// how far that quarter reaches; an endless reach without places.
func clusterOf(places []place) (middle, extent place) {
	others := len(places) / 4
	extent = math.MaxUint64
	for i := range len(places) - others {
		if e := places[i+others] - places[i]; e <= extent {
			middle, extent = places[i+others/2], e
		}
	}
	return middle, extent
}
