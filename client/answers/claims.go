package answers

import (
	"bytes"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
)

// Claim looks up the queries as LookupAll does, and claims the requests that are not Found and have no Holder, for the caller to
// send. While another process is the Holder, the caller calls LookupAll and Claim again from time to time, until there is an
// outcome, or the other process has given the claim back or is gone. In a store that is exclusive or read-only, nothing is claimed.
//
// A claim ends with the commit of an outcome, with Release, and with Close. Until then, no other goroutine may claim the same
// request with this Store.
func (s *Store) Claim(queries []Query) error {
	if s == nil || len(queries) == 0 || !s.hasClaims() {
		return s.LookupAll(queries)
	}
	return s.commit(false, func(c *conn) error {
		if err := s.beat(c); err != nil {
			return err
		}
		if err := s.removeGone(c); err != nil {
			return err
		}
		if err := s.lookUp(c, queries); err != nil {
			return err
		}
		for i := range queries {
			if q := &queries[i]; !q.Found && q.Holder == 0 {
				err := c.query("INSERT OR REPLACE INTO claims (request, owner) VALUES (?, ?)", nil, s.claimOf(q.Request), s.owner.id.Load())
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// hasClaims reports whether processes share the store, and so claim requests.
func (s *Store) hasClaims() bool { return !s.options.Exclusive && !s.options.ReadOnly }

// Release gives the claim of a request back without an outcome: with the next commit or claim, or within beatEvery. On a nil
// Store it does nothing.
func (s *Store) Release(r client.Request) {
	if s == nil || s.owner.id.Load() == 0 {
		return
	}
	s.waiting.Lock()
	defer s.waiting.Unlock()
	s.released = append(s.released, s.claimOf(r))
}

// claimOf identifies a request in the table claims. If two requests have the same number, one waits for the other.
func (s *Store) claimOf(r client.Request) int64 {
	w := newRow(s.options.Source, r, Outcome{})
	return w.claim()
}

// claim is claimOf the request of a row.
func (w *row) claim() int64 {
	return int64(xxhash.Sum64(bytes.Join([][]byte{w.input, w.classification, w.kind, w.service}, []byte{0})))
}

// unclaim removes claims of this process.
func (s *Store) unclaim(c *conn, claims ...int64) error {
	id := s.owner.id.Load()
	if id == 0 {
		return nil
	}
	for _, claim := range claims {
		if err := c.query("DELETE FROM claims WHERE request = ? AND owner = ?", nil, claim, id); err != nil {
			return err
		}
	}
	return nil
}

// giveBack removes the claims that were released.
func (s *Store) giveBack(c *conn) error {
	s.waiting.Lock()
	released := s.released
	s.released = nil
	s.waiting.Unlock()
	return s.unclaim(c, released...)
}

// owner is this process in the table owners.
type owner struct {
	id      atomic.Int64              // 0 before the first claim
	lock    *os.File                  // the database file; the byte lockAt+id is locked
	others  map[int64]sighting        // the last sightings of other owners, by id
	shown   atomic.Pointer[time.Time] // when the process last updated its row
	lapses  atomic.Int64
	beating sync.WaitGroup
}

// sighting tells how long the beat of an owner has been the same.
type sighting struct {
	beat  int64     // the last seen beat
	at    time.Time // of the last look that counted
	looks int       // looks that counted since the beat changed
}

const (
	// beatEvery is the interval at which an owner updates its beat, and gives back released claims.
	beatEvery = 5 * time.Second

	// lease is the number of looks, beatEvery apart, after which an owner with the same beat loses its claims. Ctrl-Z stops a
	// process for so long; a loaded machine or a slow disk does not. Looks are counted instead of time, because during VACUUM
	// or while the machine sleeps, no process can update its beat or look.
	lease = 12

	// lockAt is the offset of the owners' locks in the database: far behind its end, where no other program locks.
	lockAt = 1 << 62

	// mostOwner is the highest id of an owner. Two processes hardly ever draw the same id.
	mostOwner = 1 << 40
)

// beat makes this process an owner, or shows other processes that it is still running. The row of this process is missing before
// the first beat, and after a lapse.
func (s *Store) beat(c *conn) error {
	o := &s.owner
	if o.lock == nil {
		if err := s.lockOwner(); err != nil {
			return err
		}
	}
	now := time.Now()
	return c.query("INSERT INTO owners (id, pid, beats) VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET beats = beats + 1 RETURNING beats", func(row *sqlite3.Stmt) error {
		if first := o.shown.Swap(&now) == nil; row.ColumnInt64(0) == 0 && !first {
			o.lapses.Add(1)
		}
		return nil
	}, o.id.Load(), int64(os.Getpid()))
}

// lockOwner draws an id, locks the byte of the id, and starts to beat.
func (s *Store) lockOwner() error {
	f, err := os.OpenFile(s.options.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	var id int64
	for locked := false; err == nil && !locked; {
		id = 1 + rand.Int64N(mostOwner)
		locked, err = lockByte(f, lockAt+id)
	}
	if err != nil {
		f.Close() // nothing was written
		return err
	}
	s.owner.lock, s.owner.others = f, make(map[int64]sighting)
	s.owner.id.Store(id)
	s.owner.beating.Go(func() {
		beat := time.NewTicker(beatEvery)
		defer beat.Stop()
		for {
			select {
			case <-s.closed:
				return
			case <-beat.C:
				_ = s.commit(false, s.beat) // the error is sticky
			}
		}
	})
	return nil
}

// Lapses returns how often other processes have removed the claims of this process because this process seemed gone, as when it
// was stopped with Ctrl-Z. A request that was claimed before the last lapse must be claimed again before it is sent. On a nil
// Store it is 0.
func (s *Store) Lapses() (int64, error) {
	if s == nil {
		return 0, nil
	}
	if shown := s.owner.shown.Load(); shown != nil && time.Since(*shown) > lease*beatEvery {
		if err := s.commit(false, s.beat); err != nil {
			return 0, err
		}
	}
	return s.owner.lapses.Load(), nil
}

// removeGone deletes the owners that are gone, and their claims.
func (s *Store) removeGone(c *conn) error {
	var gone []int64
	o, now := &s.owner, time.Now()
	err := c.query("SELECT id, beats FROM owners WHERE id <> ?", func(row *sqlite3.Stmt) error {
		id, beat := row.ColumnInt64(0), row.ColumnInt64(1)
		seen, known := o.others[id]
		switch {
		case !known || seen.beat != beat:
			seen = sighting{beat: beat, at: now}
		case now.Sub(seen.at) >= beatEvery:
			seen.at, seen.looks = now, seen.looks+1
		}
		o.others[id] = seen
		free, err := lockByte(o.lock, lockAt+id)
		if free {
			err = unlockByte(o.lock, lockAt+id)
		}
		if free || seen.looks > lease {
			gone = append(gone, id)
		}
		return err
	}, o.id.Load())
	for _, id := range gone {
		delete(o.others, id)
		if err == nil {
			err = c.removeOwner(id)
		}
	}
	return err
}

// removeOwner deletes an owner and its claims.
func (c *conn) removeOwner(id int64) error {
	err := c.query("DELETE FROM claims WHERE owner = ?", nil, id)
	if err == nil {
		err = c.query("DELETE FROM owners WHERE id = ?", nil, id)
	}
	return err
}

// disown gives back all claims of this process.
func (s *Store) disown() error {
	s.owner.beating.Wait()
	if s.owner.id.Load() == 0 {
		return nil
	}
	defer s.owner.lock.Close() // releases the lock; nothing was written
	if s.failure.Load() != nil {
		return nil
	}
	return s.commit(false, func(c *conn) error { return c.removeOwner(s.owner.id.Load()) })
}
