package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client/limits"
)

// Note returns the note of the store's source with the given name; nil if there is none, as in a nil Store.
func (s *Store) Note(name string) (body []byte, err error) {
	if s == nil {
		return nil, nil
	}
	err = s.read(func(c *conn) error {
		return c.query("SELECT body FROM notes WHERE service = ? AND name = ?", func(row *sqlite3.Stmt) error {
			body = bytes.Clone(row.ColumnRawBlob(0))
			return nil
		}, s.options.Source, name)
	})
	return body, err
}

// learnedNote is the name of the note that holds limits.Learned.
const learnedNote = "learned"

// Learned returns what earlier runs have learned about the service. A damaged note counts as nothing learned.
func (s *Store) Learned() (l limits.Learned, err error) {
	body, err := s.Note(learnedNote)
	if err != nil || body == nil {
		return l, err
	}
	if json.Unmarshal(body, &l) != nil || !l.IsValid() { // the run learns it again
		return limits.Learned{}, nil
	}
	return l, nil
}

// KeepLearned stores l for the next run.
func (s *Store) KeepLearned(l limits.Learned) error {
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	b := s.NewBatch()
	b.AddNote(learnedNote, body)
	return b.Commit()
}

// Notes returns the notes of the store itself by name, if the name begins with prefix. These notes belong to no source.
func (s *Store) Notes(prefix string) (notes map[string][]byte, err error) {
	notes = make(map[string][]byte)
	err = s.read(func(c *conn) error {
		return c.query("SELECT name, body FROM notes WHERE service = '' AND substr(name, 1, length(?1)) = ?1", func(row *sqlite3.Stmt) error {
			notes[row.ColumnText(0)] = bytes.Clone(row.ColumnRawBlob(1))
			return nil
		}, prefix)
	})
	return notes, err
}

// PutNotes commits notes of the store itself together. Each replaces the note of the same name.
func (s *Store) PutNotes(notes map[string][]byte) error {
	b := s.NewBatch()
	b.AddNotes(notes)
	return b.Commit()
}

// LockNotes locks the notes of the store itself for this process until Close. Only one process at a time may change them. The
// error is of the kind Locked if another process holds the lock.
func (s *Store) LockNotes() error {
	lock, err := lockNotes(s.options.Path, os.O_RDWR)
	if err != nil {
		return explain(s.options.Path, err)
	}
	s.notesLock = lock
	return nil
}

// lockNotes locks the notes of the store at path until the file is closed. No owner locks that byte.
func lockNotes(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := lockByte(f, lockAt)
	if err == nil && !locked {
		err = &Error{path, Locked, nil}
	}
	if err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// NoteFile is a store that one process uses for notes only, and that only its user can read. Each call opens the store, so that the
// process continues after an error: once a full disk has room. It is safe for concurrent use.
type NoteFile struct {
	options Options
	lock    *os.File
	mu      sync.Mutex // held while the store is open
}

// OpenNotes opens the file, or makes it and its folder. The error is an *Error.
func OpenNotes(o Options) (*NoteFile, error) {
	if err := Check(o.Path); err != nil {
		return nil, err
	}
	o.Exclusive = true // so the file may be on any file system
	err := os.MkdirAll(filepath.Dir(o.Path), 0o700)
	f := &NoteFile{options: o}
	if err == nil {
		f.lock, err = lockNotes(o.Path, os.O_RDWR|os.O_CREATE)
	}
	if err != nil {
		return nil, explain(o.Path, err)
	}
	if err = f.lock.Chmod(0o600); err == nil {
		err = f.use(func(*Store) error { return nil })
	}
	if err != nil {
		f.lock.Close() // nothing was written
		return nil, explain(o.Path, err)
	}
	f.options.MustExist = true // a new store would not have the notes
	return f, nil
}

// Path is the path of the file.
func (f *NoteFile) Path() string { return f.options.Path }

// Notes is Store.Notes.
func (f *NoteFile) Notes(prefix string) (notes map[string][]byte, err error) {
	err = f.use(func(s *Store) error {
		notes, err = s.Notes(prefix)
		return err
	})
	return notes, err
}

// PutNotes is Store.PutNotes.
func (f *NoteFile) PutNotes(notes map[string][]byte) error {
	return f.use(func(s *Store) error { return s.PutNotes(notes) })
}

// use runs work with the store, unless another file has replaced the locked one.
func (f *NoteFile) use(work func(*Store) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	locked, err := f.lock.Stat()
	if err != nil {
		return explain(f.options.Path, err)
	}
	if info, err := os.Stat(f.options.Path); err != nil || !os.SameFile(info, locked) {
		return explain(f.options.Path, fmt.Errorf("%w: %s", errGone, f.options.Path))
	}
	s, err := Open(f.options)
	if err != nil {
		return err
	}
	return errors.Join(work(s), s.Close())
}

// Close closes the file. Every call after it returns an error.
func (f *NoteFile) Close() error { return f.lock.Close() }
