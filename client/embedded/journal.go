package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// saveEvery is how often used quota is written down, and so the most that a
// service that is killed forgets: the answers of its last second. A sync of the
// disk each second is little work for it.
const saveEvery = time.Second

// journalSlack is how far a journal grows before it is written anew: some ten
// thousand records, read in milliseconds.
const journalSlack = 1 << 20

// Journal is a file of what API keys have used, which outlives the Service. It
// has the digests of keys, not the keys. Records are appended, and the last one
// of a key counts; when the file has grown it is replaced by one with the last
// ones alone. Keys that are not accepted any more keep their records.
//
// A file FILE.lock beside it keeps other services away.
type Journal struct {
	files   vfs.FS
	path    string
	lock    io.Closer
	damaged int

	used   map[digest]int64 // by the file
	file   vfs.File         // nil where the file must be written anew
	size   int64
	sparse int64 // the size from which it is
}

// JournalError is a journal that cannot be read or written.
type JournalError struct {
	Path string
	Do   string // what failed, and perhaps what to do about it
	Err  error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("the journal of used quota %s: %s: %v", e.Path, e.Do, e.Err)
}

func (e *JournalError) Unwrap() error { return e.Err }

// OpenJournal opens the journal at path, or starts one. Records that are damaged
// are left out: see Damaged. Its errors are *JournalError; one of them is a file
// that is no journal, which is left as it is.
func OpenJournal(files vfs.FS, path string) (*Journal, error) {
	lock, err := files.Lock(path + ".lock")
	if err != nil {
		return nil, &JournalError{path, "lock it (does another service use it?)", err}
	}
	j := &Journal{files: files, path: path, lock: lock}
	if err := j.read(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := j.rewrite(j.used); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return j, nil
}

// Damaged is how many records could not be read when the journal was opened. One
// is what a loss of power leaves behind; what it said is at most a second's use.
func (j *Journal) Damaged() int { return j.damaged }

// Close closes the file and lets other services have it.
func (j *Journal) Close() error {
	err := j.lock.Close()
	if j.file != nil {
		err = errors.Join(j.file.Close(), err)
	}
	if err != nil {
		return &JournalError{j.path, "close it", err}
	}
	return nil
}

func (j *Journal) read() error {
	file, err := j.files.Open(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &JournalError{j.path, "open it", err}
	}
	defer file.Close() // only read from
	j.used, j.damaged, err = readJournal(file)
	switch {
	case errors.Is(err, errNoJournal):
		return &JournalError{j.path, "name another file, or remove this one", err}
	case err != nil:
		return &JournalError{j.path, "read it", err}
	}
	return nil
}

// save makes what the accounts have used durable. After an error the file is not
// trusted any more: the next save writes it anew, with all that this one should
// have.
func (j *Journal) save(all accounts) error {
	changed := map[digest]int64{}
	for d, a := range all {
		if used := a.used.Load(); used != j.used[d] {
			changed[d] = used
		}
	}
	switch {
	case len(changed) == 0 && j.file != nil:
		return nil
	case j.file == nil || j.size > j.sparse:
		latest := maps.Clone(j.used)
		maps.Copy(latest, changed)
		return j.rewrite(latest)
	}
	return j.append(changed)
}

func (j *Journal) append(changed map[digest]int64) error {
	records := appendRecords(nil, changed)
	_, err := j.file.WriteAt(records, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		err = errors.Join(err, j.file.Close())
		j.file = nil
		return &JournalError{j.path, "append to it", err}
	}
	j.size += int64(len(records))
	maps.Copy(j.used, changed)
	return nil
}

// rewrite replaces the file, whole or not at all.
func (j *Journal) rewrite(used map[digest]int64) error {
	if j.file != nil {
		if err := j.file.Close(); err != nil { // all in it is synced; but who knows
			j.file = nil
			return &JournalError{j.path, "close it", err}
		}
		j.file = nil
	}
	content := appendRecords([]byte(journalHeader), used)
	if err := j.publish(content); err != nil {
		return &JournalError{j.path, "write it", err}
	}
	file, err := j.files.OpenReadWrite(j.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return &JournalError{j.path, "open it", err}
	}
	j.file, j.size, j.used = file, int64(len(content)), maps.Clone(used)
	if j.used == nil {
		j.used = map[digest]int64{}
	}
	j.sparse = 4*j.size + journalSlack
	return nil
}

// publish writes a temporary file and gives it the journal's name once it is on
// disk.
func (j *Journal) publish(content []byte) error {
	temp := j.path + ".tmp"
	file, err := j.files.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, j.files.Remove(temp))
	}
	if err := j.files.Rename(temp, j.path); err != nil {
		return errors.Join(err, j.files.Remove(temp))
	}
	dir, err := j.files.OpenDir(j.files.PathDir(j.path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
