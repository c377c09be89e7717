package answers

import "context"

// compactBytes of records are copied with one fdatasync.
const compactBytes = 4 << 20

// Compact makes the store as small as it gets: it copies the live records of all log files to
// new files and removes the old files, one after the other. When ctx ends, so does the work; the
// error is then the context's cause, and the store is sound.
func (s *Store) Compact(ctx context.Context) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	return s.compact(ctx)
}

// compact is Compact for the goroutine that holds Store.writes.
func (s *Store) compact(ctx context.Context) error {
	if err := s.failure.err(); err != nil {
		return err
	}
	old := s.log.last().number
	if err := s.log.add(old + 1); err != nil {
		return s.failure.set(err)
	}
	for s.log.files[0].number <= old {
		if err := s.withSoundIndex(func() error { return s.compactFirst(ctx) }); err != nil {
			return err
		}
	}
	return s.withSoundIndex(func() error { return s.index.compact(ctx) })
}

// compactFirst copies the live records of the first log file to the end of the log and removes
// the file. The copies are durable before, and the index no longer leads to the file. A process
// that is killed in between leaves some records twice, of which the last one counts.
func (s *Store) compactFirst(ctx context.Context) error {
	first := s.log.files[0].number
	to, records, left := s.NewBatch(), uint64(0), uint64(0)
	for at := placeIn(first, 0); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c, err := s.readKept(at, compactBytes)
		if err != nil {
			return err
		}
		if c.to == c.from || c.from.file() != first {
			break
		}
		for _, at := range c.damaged {
			s.damage.note(s.options, at, "")
		}
		at, records = c.to, records+uint64(c.count)
		for _, r := range c.records {
			if s.deleting[string(r.key)] {
				left++
				continue
			}
			to.add(r.key, r.record)
		}
		if err := to.commit(); err != nil {
			return err
		}
	}
	state := s.index.state
	state.First = first + 1
	state.Records -= min(state.Records, records)
	state.Replaced -= min(state.Replaced, records-left) // all of the file's that are not deleted
	if err := s.index.write(state, nil); err != nil {
		return err
	}
	if err := s.index.flush(); err != nil {
		return err
	}
	err := s.failure.set(s.log.removeBefore(first + 1))
	s.replaced.Store(state.Replaced) // no sooner: readLive reads the file as long as the file is there
	return err
}
