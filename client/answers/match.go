package answers

import "slices"

// match makes log and index agree. Files of the log that are missing are damage; a store that is only read gives what
// is left. An index that is ahead of a log that was cut off cannot be used, and neither can the index of another log.
func (s *Store) match() error {
	x := s.index
	if x.state.Indexed == 0 {
		x.state.First = s.log.files[0].number
	}
	first := x.state.First
	if err := s.log.missing(first, x.state.Indexed.file()); err != nil {
		if !s.options.ReadOnly {
			return err
		}
		s.unreadable = storeError(s.options.Dir, err)
	} else if known, err := s.describes(); err != nil {
		return err
	} else if !known {
		if err := x.empty(s.options.ReadOnly); err != nil {
			return err
		}
		first = s.log.files[0].number
	}
	x.state.First = first
	return s.log.removeBefore(first) // left by a compaction that was killed
}

// describes reports whether the index describes this log: an index of another log must not lead to the removal of files.
// A log that was cut off or whose last pack is damaged looks like another log, and may have lost answers.
func (s *Store) describes() (bool, error) {
	state := s.index.state
	sum, err := s.log.sum(state.Last)
	switch {
	case err != nil || state.Indexed == 0, state.Version == oldVersion && state.Indexed <= s.log.end():
		return true, err
	case state.Indexed > s.log.end():
		s.damage.note(s.options, state.Indexed, "")
	case sum == state.Sum:
		return true, nil
	case sum == 0 && state.Last.file() >= s.log.files[0].number:
		s.damage.note(s.options, state.Last, "")
	}
	s.options.Log.Info("the index of the store does not fit the log and is made anew", "store", s.options.Dir)
	return false, nil
}

// withSoundIndex calls work, and once more if work found the index damaged, after the index was made anew. The caller holds
// writes.
func (s *Store) withSoundIndex(work func() error) error {
	err := work()
	if !isIndexDamage(err) {
		return err
	}
	if err = s.remake(); err == nil {
		err = work()
	}
	if isIndexDamage(err) {
		return s.failure.set(err) // the disk damages what is written
	}
	return err
}

// find is index.find for lookups, which do not hold writes.
func (s *Store) find(keys []recordRef) error {
	s.making.RLock()
	err := s.index.find(keys)
	s.making.RUnlock()
	if !isIndexDamage(err) {
		return err
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	return s.withSoundIndex(func() error { return s.index.find(keys) })
}

// markIfDamaged has the index made anew if it leads to a record that is not there. Another goroutine may have made the
// index anew since.
func (s *Store) markIfDamaged(w recordRef) {
	s.making.RLock()
	defer s.making.RUnlock()
	now := []recordRef{w}
	if err := s.index.find(now); err == nil && now[0].place == w.place { // the next find returns an error again
		_ = s.index.explain(errDamagedPlace)
	}
}

// mend makes the index anew if it is damaged.
func (s *Store) mend() {
	s.writes.Lock()
	defer s.writes.Unlock()
	_ = s.remake() // the calls that come return the error, which is sticky
}

// remake makes a damaged index anew from the log, in a store that is only read in memory. The caller holds writes.
func (s *Store) remake() error {
	s.making.Lock()
	defer s.making.Unlock()
	damage := s.index.damage.Load()
	if err := s.failure.err(); err != nil || damage == nil { // another goroutine has made it anew
		return err
	}
	if err := s.log.present(); err != nil {
		return s.failure.set(err)
	}
	s.options.Log.Warn("the index of the store is damaged and is made anew from the log",
		"store", s.options.Dir, "file", damage.File, "reason", damage.Err)
	err := s.index.empty(s.options.ReadOnly)
	if err == nil {
		s.index.state.First = s.log.files[0].number
		err = s.replay()
	}
	return s.failure.set(err)
}

// replay adds to the index what the log has behind state.Indexed.
func (s *Store) replay() error {
	var damaged []place // behind the last sound pack
	for at := max(s.index.state.Indexed, s.log.start()); ; {
		c, err := s.log.readChunk(at, chunkBytes)
		if err != nil {
			return err
		}
		if c.to == c.from {
			break
		}
		at, damaged = c.to, append(damaged, c.damaged...)
		if len(c.records) == 0 {
			continue
		}
		damaged = slices.DeleteFunc(damaged, func(at place) bool {
			if at < c.sound {
				s.damage.note(s.options, at, "")
			}
			return at < c.sound
		})
		if err := s.enter(c.records, c.sound); err != nil {
			return err
		}
	}
	s.replaced.Store(s.index.state.Replaced)
	return nil
}

// enter adds to the index the records of packs that lie before an end of the log.
func (s *Store) enter(records []recordRef, end place) error {
	last := records[0].place
	for _, r := range records {
		last = max(last, r.place)
	}
	sum, err := s.log.sum(last)
	if err != nil {
		return err
	}
	return s.index.apply(records, end, sum)
}

// trim cuts off what follows the last sound pack: a process was killed there, and has not acknowledged these records.
func (s *Store) trim() error {
	defer func() { s.ahead.end = s.log.end() }()
	sound := max(s.index.state.Indexed, s.log.start())
	switch last := s.log.last(); {
	case sound.file() == last.number:
		return s.log.cut(sound.offset())
	case sound.file() < last.number:
		return s.log.cut(int64(len(logHeader)))
	}
	return nil // the last file is missing
}
