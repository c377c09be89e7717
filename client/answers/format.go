package answers

import (
	"cmp"
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const formatVersion = "4"

// formatKey sorts before every source and can be no source: none begins with NUL.
var formatKey = []byte("\x00format")

// prepare checks the format of an old store, marks a new one, and signs it. What is left of a
// damaged one is to be saved by those who only read.
func (s *Store) prepare(signed bool) error {
	isNew, err := s.checkFormat(signed)
	if isNew && s.options.ReadOnly {
		return nil
	}
	if isNew {
		s.keys = new(filter)
		err = s.begin()
	}
	if err == nil {
		err = s.load()
	}
	if _, damaged := errors.AsType[*DamageError](err); damaged && s.options.ReadOnly {
		s.unreadable = err
		return s.salvage()
	}
	if err != nil || s.options.ReadOnly {
		return err
	}
	err = s.signOwner()
	s.writing = err == nil
	return err
}

// checkFormat checks the format, and says whether the store is new. One that was signed has
// had a format, and so has one with answers.
func (s *Store) checkFormat(signed bool) (isNew bool, err error) {
	format, found, err := s.get(formatKey)
	switch {
	case err != nil:
		return false, err
	case found && string(format) != formatVersion:
		return false, &VersionError{Dir: s.options.Dir, Version: string(format)}
	case found:
		return false, nil
	}
	base, name, err := s.journal.look()
	if err != nil {
		return false, storeError(s.options.Dir, "", err)
	}
	if signed || base > firstPosition {
		return false, storeError(s.options.Dir, "", &fileError{cmp.Or(name, string(formatKey)), errForgotten})
	}
	return true, nil
}

// begin makes a new store one of this format.
func (s *Store) begin() error {
	_, err := guard(s.fate, func() (struct{}, error) {
		file, err := s.options.FS.OpenReadWrite(s.journal.files.name(firstPosition, journalExt), vfs.WriteCategoryUnspecified)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, errors.Join(file.Close(), s.segments.syncDir())
	})
	if err != nil {
		return storeError(s.options.Dir, "", err)
	}
	return s.set(formatKey, []byte(formatVersion))
}

// load finds the segments and what is recent.
func (s *Store) load() error {
	_, err := guard(s.fate, func() (struct{}, error) {
		if err := s.loadSegments(); err != nil {
			return struct{}{}, err
		}
		if err := s.journal.open(s.segments.end()); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.gatherRecent()
	})
	return storeError(s.options.Dir, "", err)
}

// salvage loads the files that are there, as their names say.
func (s *Store) salvage() error {
	_, err := guard(s.fate, func() (struct{}, error) {
		if err := errors.Join(s.segments.close(), s.journal.files.close()); err != nil {
			return struct{}{}, err
		}
		if err := s.segments.addAll(); err != nil {
			return struct{}{}, err
		}
		base, _, err := s.journal.look()
		if base == 0 || err != nil {
			return struct{}{}, err
		}
		s.segments.endBefore(base)
		return struct{}{}, errors.Join(s.journal.begin(base), s.gatherRecent())
	})
	return storeError(s.options.Dir, "", err)
}
