package answers

import (
	"cmp"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
)

// Claim claims the requests of the queries that LookupAll has not found: the caller asks them. It finds outcomes that were
// committed since. A request that another process has claimed is Held: the caller waits for the answer, and looks up and
// claims again from time to time, which succeeds once the other process has given the request back or is gone. In a store
// that is opened exclusively, or only read, nothing is held.
//
// A claim ends when an outcome of the request is committed, with Release, and with Close. The caller sees to it that no other
// goroutine claims the same with this Store from before LookupAll until the claim has ended.
func (s *Store) Claim(queries []Query) error {
	for i := range queries {
		queries[i].Held = false
	}
	if len(queries) == 0 || s.options.Exclusive || s.options.ReadOnly {
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

// claiming is a call of Claim. The calls that wait while another goroutine writes are done together.
type claiming struct {
	queries []Query
	done    chan struct{}
	err     error
}

// claimAll does all calls that wait. The caller holds writes.
func (s *Store) claimAll() {
	s.claims.Lock()
	calls := s.claiming
	s.claiming = nil
	s.claims.Unlock()
	if len(calls) == 0 {
		return
	}
	err := s.writeAlone(false, func(c *conn) error {
		if err := s.own(c); err != nil {
			return err
		}
		return c.transaction("BEGIN IMMEDIATE", func() error {
			if err := s.bury(c); err != nil {
				return err
			}
			if err := s.giveBack(c); err != nil {
				return err
			}
			if err := s.noticeOthers(c); err != nil {
				return err
			}
			for _, call := range calls {
				if err := s.lookUp(c, call.queries, s.changes.Load()); err != nil { // what was committed meanwhile
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

// noticeOthers counts in changes if another connection than the writer has committed since the last call. The engine tells so.
func (s *Store) noticeOthers(c *conn) error {
	return c.query("PRAGMA data_version", func(row *sqlite3.Stmt) error {
		if v := row.ColumnInt64(0); v != s.version {
			s.version = v
			s.changes.Add(1)
		}
		return nil
	})
}

func (s *Store) claim(c *conn, queries []Query) error {
	for i := range queries {
		q := &queries[i]
		if q.Found {
			continue
		}
		hash := key{q.Request, cmp.Or(q.Source, s.options.Source)}.hash()
		err := c.query("INSERT INTO claims (request, owner) VALUES (?, ?) ON CONFLICT DO NOTHING", nil, hash, s.owner.id)
		if err != nil {
			return err
		}
		if c.Changes() > 0 {
			continue
		}
		err = c.query("SELECT owner FROM claims WHERE request = ?", func(row *sqlite3.Stmt) error {
			q.Held = row.ColumnInt64(0) != s.owner.id
			return nil
		}, hash)
		if err != nil {
			return err
		}
	}
	return nil
}

// Release gives claims back without an outcome, with the next commit or claim, or within a few seconds. It does
// nothing for a nil Store.
func (s *Store) Release(r client.Request) {
	if s == nil {
		return
	}
	s.claims.Lock()
	defer s.claims.Unlock()
	s.released = append(s.released, key{r, s.options.Source})
}

// key names a row.
type key struct {
	request client.Request
	source  string
}

// hash stands for the key among claims: two requests with one hash would be asked one after the other.
func (k key) hash() int64 {
	text := strings.Join([]string{k.request.Input, k.request.Classification, string(k.request.Kind), k.source}, "\x00")
	return int64(xxhash.Sum64String(text))
}

// unclaim removes the claim of this process on a request.
func (s *Store) unclaim(c *conn, k key) error {
	return c.query("DELETE FROM claims WHERE request = ? AND owner = ?", nil, k.hash(), s.owner.id)
}

// giveBack removes the claims that were released.
func (s *Store) giveBack(c *conn) error {
	s.claims.Lock()
	released := s.released
	s.released = nil
	s.claims.Unlock()
	for _, k := range released {
		if s.owner == nil {
			break
		}
		if err := s.unclaim(c, k); err != nil {
			return err
		}
	}
	return nil
}

// owner is this process among those that claim.
type owner struct {
	id     int64
	lock   *os.File // of the database, with the byte of id locked
	beat   int64
	others map[int64]sighting // the processes that were seen
}

// sighting is how long an owner has shown nothing.
type sighting struct {
	beat  int64     // that was seen last
	at    time.Time // of the look that counted last
	looks int       // that counted since the beat
}

const (
	// beatEvery is how often an owner shows that it lives, and gives back what was released.
	beatEvery = 5 * time.Second

	// lease is how many looks, beatEvery apart, an owner that shows nothing keeps its claims, such as a process that was
	// stopped with Ctrl-Z. A process on a loaded machine, or with a slow disk, must not lose its claims. Looks are counted,
	// not time: while VACUUM runs, or the machine sleeps, no process can show anything, and none can look.
	lease = 12

	// lockAt is the offset of the locks of owners in the database: far behind its end, where no program locks.
	lockAt = 1 << 62

	// mostOwner is the highest id of an owner: so high that two processes hardly ever draw the same.
	mostOwner = 1 << 40
)

// own makes this process an owner, unless it is one. The caller holds writes.
func (s *Store) own(c *conn) error {
	if s.owner != nil {
		return nil
	}
	f, err := os.OpenFile(s.options.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	o := &owner{lock: f, others: make(map[int64]sighting)}
	for locked := false; !locked; {
		o.id = 1 + rand.Int64N(mostOwner)
		if locked, err = lockByte(f, lockAt+o.id); err != nil {
			f.Close() // nothing was written
			return err
		}
	}
	err = c.query("INSERT INTO owners (id, pid, beats) VALUES (?, ?, 0)", nil, o.id, int64(os.Getpid()))
	if err != nil {
		f.Close() // nothing was written
		return err
	}
	now := time.Now()
	s.shown.Store(&now)
	s.owner, s.beat = o, time.NewTicker(beatEvery)
	s.beats.Go(s.keepBeating)
	return nil
}

// keepBeating shows that this process lives, until Close.
func (s *Store) keepBeating() {
	defer s.beat.Stop()
	for {
		select {
		case <-s.closed:
			return
		case <-s.beat.C:
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

// Lapses counts how often other processes have taken the claims of this process for those of a process that is gone, as when
// it was stopped with Ctrl-Z. A request that was claimed before the last time must be claimed again before it is asked.
func (s *Store) Lapses() (int64, error) {
	if shown := s.shown.Load(); shown != nil && time.Since(*shown) > lease*beatEvery {
		if err := s.showLife(); err != nil {
			return 0, err
		}
	}
	return s.lapses.Load(), nil
}

// bury removes the owners that are gone, and their claims.
func (s *Store) bury(c *conn) error {
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
			err = c.query("DELETE FROM claims WHERE owner = ?", nil, id)
		}
		if err == nil {
			err = c.query("DELETE FROM owners WHERE id = ?", nil, id)
		}
	}
	return err
}

// disown gives back all claims.
func (s *Store) disown() error {
	if s.owner == nil {
		return nil
	}
	defer s.owner.lock.Close() // nothing was written; the lock ends
	if s.failure.Load() != nil {
		return nil
	}
	return s.write(false, func(c *conn) error {
		return c.transaction("BEGIN IMMEDIATE", func() error {
			err := c.query("DELETE FROM claims WHERE owner = ?", nil, s.owner.id)
			if err == nil {
				err = c.query("DELETE FROM owners WHERE id = ?", nil, s.owner.id)
			}
			return err
		})
	})
}
