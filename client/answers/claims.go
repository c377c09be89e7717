package answers

import (
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
)

// Claim claims the requests of the queries that are not Found, for the caller to send. First it looks for outcomes that were
// committed since LookupAll. If another process has claimed a request, it is the Holder of the query: the caller calls LookupAll
// and Claim again from time to time, until there is an outcome, or the other process has given the claim back or is gone. In a
// store that is nil, exclusive or read-only, nothing is claimed or held.
//
// A claim ends with the commit of an outcome, with Release, and with Close. From LookupAll until the claim ends, no other
// goroutine may claim the same request with this Store.
func (s *Store) Claim(queries []Query) error {
	if !s.resetHolders(queries) {
		return nil
	}
	own := &claiming{queries: queries, done: make(chan struct{})}
	s.claims.Lock()
	s.claiming = append(s.claiming, own)
	s.claims.Unlock()
	select {
	case <-own.done:
	case s.writes <- struct{}{}:
		s.claimAll()
		<-s.writes
	}
	<-own.done
	return own.err
}

// claiming is a call of Claim. Calls that wait while another goroutine writes share one transaction.
type claiming struct {
	queries []Query
	done    chan struct{}
	err     error
}

// claimAll makes the claims of all waiting calls. The caller holds s.writes.
func (s *Store) claimAll() {
	s.claims.Lock()
	calls := s.claiming
	s.claiming = nil
	s.claims.Unlock()
	if len(calls) == 0 {
		return
	}
	err := s.writeLocked(false, func(c *conn) error {
		if err := s.own(c); err != nil {
			return err
		}
		return c.transaction("BEGIN IMMEDIATE", func() error {
			for _, step := range []func(*conn) error{s.removeGone, s.giveBack, s.noticeOthers} {
				if err := step(c); err != nil {
					return err
				}
			}
			for _, call := range calls {
				if err := s.lookUp(c, call.queries, s.changes.Load()); err != nil { // outcomes committed since LookupAll
					return err
				}
				if err := s.claim(c, call.queries); err != nil {
					return err
				}
			}
			return s.checkFiles()
		})
	})
	for _, call := range calls {
		call.err = err
		close(call.done)
	}
}

// noticeOthers increments s.changes if another connection has committed since the last call (PRAGMA data_version).
func (s *Store) noticeOthers(c *conn) error {
	return c.query("PRAGMA data_version", func(row *sqlite3.Stmt) error {
		if v := row.ColumnInt64(0); v != s.version {
			s.version = v
			s.changes.Add(1)
		}
		return nil
	})
}

// claim claims the requests of the queries that are not Found, unless another process has claimed them.
func (s *Store) claim(c *conn, queries []Query) error {
	for i := range queries {
		if q := &queries[i]; !q.Found {
			err := c.query("INSERT INTO claims (request, owner) VALUES (?, ?) ON CONFLICT DO NOTHING", nil, s.hash(q.Request), s.owner.id)
			if err != nil {
				return err
			}
		}
	}
	return s.findHolders(c, queries, s.owner.id)
}

// findHolders sets the Holder of the queries that are not Found to the processes, except owner, that have claimed the requests.
func (s *Store) findHolders(c *conn, queries []Query, owner int64) error {
	for i := range queries {
		q := &queries[i]
		if q.Found {
			continue
		}
		err := c.query("SELECT COALESCE(pid, -1) FROM claims LEFT JOIN owners ON id = owner WHERE request = ? AND owner <> ?", func(row *sqlite3.Stmt) error {
			q.Holder = row.ColumnInt(0)
			return nil
		}, s.hash(q.Request), owner)
		if err != nil {
			return err
		}
	}
	return nil
}

// Holders sets the Holder of the queries that are not Found, and claims nothing. Only Claim notices that a process is gone.
func (s *Store) Holders(queries []Query) error {
	if !s.resetHolders(queries) {
		return nil
	}
	return s.read(func(c *conn) error {
		return c.transaction("BEGIN", func() error { return s.findHolders(c, queries, s.ownID.Load()) })
	})
}

// resetHolders empties the Holder of the queries, and reports whether the store may have claims of them.
func (s *Store) resetHolders(queries []Query) bool {
	for i := range queries {
		queries[i].Holder = 0
	}
	return s != nil && len(queries) > 0 && !s.options.Exclusive && !s.options.ReadOnly
}

// Release gives the claim of a request back without an outcome: with the next commit or claim, or within beatEvery. On a nil
// Store it does nothing.
func (s *Store) Release(r client.Request) {
	if s == nil {
		return
	}
	s.claims.Lock()
	defer s.claims.Unlock()
	if s.released == nil {
		s.released = make(map[client.Request]struct{})
	}
	s.released[r] = struct{}{}
}

// hash identifies a request in the table claims. If two requests have the same hash, one waits for the other.
func (s *Store) hash(r client.Request) int64 {
	text := strings.Join([]string{r.Input, r.Classification, string(r.Kind), s.options.Source}, "\x00")
	return int64(xxhash.Sum64String(text))
}

// unclaim removes the claim of this process on a request.
func (s *Store) unclaim(c *conn, r client.Request) error {
	return c.query("DELETE FROM claims WHERE request = ? AND owner = ?", nil, s.hash(r), s.owner.id)
}

// giveBack removes the claims that were released.
func (s *Store) giveBack(c *conn) error {
	s.claims.Lock()
	released := s.released
	s.released = nil
	s.claims.Unlock()
	for r := range released {
		if s.owner == nil {
			break
		}
		if err := s.unclaim(c, r); err != nil {
			return err
		}
	}
	return nil
}

// owner is this process in the table owners.
type owner struct {
	id     int64
	lock   *os.File // the database file; the byte lockAt+id is locked
	beat   int64
	others map[int64]sighting // the last sightings of other owners, by id
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

// own makes this process an owner, unless it is already an owner. The caller holds s.writes.
func (s *Store) own(c *conn) error {
	if s.owner != nil {
		return nil
	}
	f, err := os.OpenFile(s.options.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	o := &owner{lock: f, others: make(map[int64]sighting)}
	for locked := false; err == nil && !locked; {
		o.id = 1 + rand.Int64N(mostOwner)
		locked, err = lockByte(f, lockAt+o.id)
	}
	if err == nil {
		err = c.query("INSERT INTO owners (id, pid, beats) VALUES (?, ?, 0)", nil, o.id, int64(os.Getpid()))
	}
	if err != nil {
		f.Close() // nothing was written
		return err
	}
	now := time.Now()
	s.shown.Store(&now)
	s.ownID.Store(o.id)
	s.owner = o
	s.beats.Go(s.keepBeating)
	return nil
}

// keepBeating updates the beat of this process until Close.
func (s *Store) keepBeating() {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		select {
		case <-s.closed:
			return
		case <-beat.C:
		}
		_ = s.showLife() // the error is sticky
	}
}

func (s *Store) showLife() error {
	now := time.Now()
	return s.write(false, func(c *conn) error {
		s.owner.beat++
		err := c.transaction("BEGIN IMMEDIATE", func() error {
			if err := s.giveBack(c); err != nil {
				return err
			}
			err := c.query("UPDATE owners SET beats = ? WHERE id = ?", nil, s.owner.beat, s.owner.id)
			if err != nil || c.Changes() > 0 {
				return err
			}
			s.lapses.Add(1)
			return c.query("INSERT INTO owners (id, pid, beats) VALUES (?, ?, ?)", nil, s.owner.id, int64(os.Getpid()), s.owner.beat)
		})
		if err == nil {
			s.shown.Store(&now)
		}
		return err
	})
}

// Lapses returns how often other processes have removed the claims of this process because this process seemed gone, as when it
// was stopped with Ctrl-Z. A request that was claimed before the last lapse must be claimed again before it is sent. On a nil
// Store it is 0.
func (s *Store) Lapses() (int64, error) {
	if s == nil {
		return 0, nil
	}
	if shown := s.shown.Load(); shown != nil && time.Since(*shown) > lease*beatEvery {
		if err := s.showLife(); err != nil {
			return 0, err
		}
	}
	return s.lapses.Load(), nil
}

// removeGone deletes the owners that are gone, and their claims.
func (s *Store) removeGone(c *conn) error {
	var gone []int64
	now := time.Now()
	err := c.query("SELECT id, beats FROM owners WHERE id <> ?", func(row *sqlite3.Stmt) error {
		id, beat := row.ColumnInt64(0), row.ColumnInt64(1)
		seen, known := s.owner.others[id]
		switch {
		case !known || seen.beat != beat:
			seen = sighting{beat: beat, at: now}
		case now.Sub(seen.at) >= beatEvery:
			seen.at, seen.looks = now, seen.looks+1
		}
		s.owner.others[id] = seen
		free, err := lockByte(s.owner.lock, lockAt+id)
		if free {
			err = unlockByte(s.owner.lock, lockAt+id)
		}
		if free || seen.looks > lease {
			gone = append(gone, id)
		}
		return err
	}, s.owner.id)
	for _, id := range gone {
		delete(s.owner.others, id)
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
	if s.owner == nil {
		return nil
	}
	defer s.owner.lock.Close() // releases the lock; nothing was written
	if s.failure.Load() != nil {
		return nil
	}
	return s.write(false, func(c *conn) error {
		return c.transaction("BEGIN IMMEDIATE", func() error { return c.removeOwner(s.owner.id) })
	})
}
