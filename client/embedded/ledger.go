package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// saveEvery is the interval between saves of the used quota: a crash loses at most one second of
// usage, and a sync of the disk every second costs little.
const saveEvery = time.Second

// ledgerSlack is the growth of a ledger, in bytes, until it is rewritten: some ten thousand
// records, which are read in milliseconds.
const ledgerSlack = 1 << 20

// Ledger is a file of the quota that API keys have used. It has the digests of the keys, not the
// keys. The Service appends records, and the last record of a key counts; when the file has
// grown, it is replaced by a file with the last records. Keys that are no longer accepted keep
// theirs.
//
// The lock FILE.lock beside the file keeps a second service from using the ledger. A Ledger is
// not safe for concurrent use, except by [Service.SaveUsage], [Service.KeepUsage] and [Ledger.Content].
type Ledger struct {
	files   vfs.FS
	path    string
	lock    io.Closer
	damaged int

	saving sync.Mutex       // held by save
	used   map[digest]usage // as in the file
	file   vfs.File         // nil if the next save must rewrite the file
	size   int64            // of the file, in bytes
	sparse int64            // the size from which the next save rewrites the file
}

// LedgerError says that a ledger cannot be read or written.
type LedgerError struct {
	Path string
	Do   string // what failed, and in some cases what to do
	Err  error
}

func (e *LedgerError) Error() string {
	return fmt.Sprintf("the ledger of used quota %s: %s: %v", e.Path, e.Do, e.Err)
}

func (e *LedgerError) Unwrap() error { return e.Err }

// OpenLedger opens the ledger at path, or creates it. It skips damaged records: see
// [Ledger.Damaged]. It leaves a file that is not a ledger unchanged and returns an error. Errors
// are of type *LedgerError.
func OpenLedger(files vfs.FS, path string) (*Ledger, error) {
	lock, err := files.Lock(path + ".lock")
	if err != nil {
		return nil, &LedgerError{path, "lock it (does another service use it?)", err}
	}
	l := &Ledger{files: files, path: path, lock: lock}
	if err := l.read(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := l.rewrite(l.used); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return l, nil
}

// Damaged is the number of records that OpenLedger could not read. A loss of power damages at
// most one record, and loses at most one second of usage.
func (l *Ledger) Damaged() int { return l.damaged }

// Close closes the file and releases the lock.
func (l *Ledger) Close() error {
	err := l.lock.Close()
	if l.file != nil {
		err = errors.Join(l.file.Close(), err)
	}
	if err != nil {
		return &LedgerError{l.path, "close it", err}
	}
	return nil
}

func (l *Ledger) read() error {
	file, err := l.files.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &LedgerError{l.path, "open it", err}
	}
	defer file.Close() // only read from
	l.used, l.damaged, err = readLedger(file)
	switch {
	case errors.Is(err, errNoLedger):
		return &LedgerError{l.path, "name another file, or remove this one", err}
	case err != nil:
		return &LedgerError{l.path, "read it", err}
	}
	return nil
}

// save makes the used quota of all keys durable. After an error the content of the file is
// unknown, and the next save rewrites it.
func (l *Ledger) save(all apiKeys) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	changed := map[digest]usage{}
	for d, a := range all {
		if used := a.usage(); used != l.used[d] {
			changed[d] = used
		}
	}
	switch {
	case len(changed) == 0 && l.file != nil:
		return nil
	case l.file == nil || l.size > l.sparse:
		latest := maps.Clone(l.used)
		maps.Copy(latest, changed)
		return l.rewrite(latest)
	}
	return l.append(changed)
}

// Content is a ledger of the used quota that was saved last: the content of a file for [OpenLedger].
func (l *Ledger) Content() []byte {
	l.saving.Lock()
	defer l.saving.Unlock()
	return appendRecords([]byte(ledgerHeader), l.used)
}

func (l *Ledger) append(changed map[digest]usage) error {
	records := appendRecords(nil, changed)
	_, err := l.file.WriteAt(records, l.size)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
		return &LedgerError{l.path, "append to it", err}
	}
	l.size += int64(len(records))
	maps.Copy(l.used, changed)
	return nil
}

// rewrite replaces the file atomically.
func (l *Ledger) rewrite(used map[digest]usage) error {
	if l.file != nil {
		if err := l.file.Close(); err != nil { // the records are synced, but the disk may be failing
			l.file = nil
			return &LedgerError{l.path, "close it", err}
		}
		l.file = nil
	}
	content := appendRecords([]byte(ledgerHeader), used)
	if err := l.publish(content); err != nil {
		return &LedgerError{l.path, "write it", err}
	}
	file, err := l.files.OpenReadWrite(l.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return &LedgerError{l.path, "open it", err}
	}
	l.file, l.size, l.used = file, int64(len(content)), maps.Clone(used)
	if l.used == nil {
		l.used = map[digest]usage{}
	}
	l.sparse = 4*l.size + ledgerSlack
	return nil
}

// publish writes and syncs a temporary file, and renames it to the ledger's path.
func (l *Ledger) publish(content []byte) error {
	temp := l.path + ".tmp"
	file, err := l.files.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, l.files.Remove(temp))
	}
	if err := l.files.Rename(temp, l.path); err != nil {
		return errors.Join(err, l.files.Remove(temp))
	}
	dir, err := l.files.OpenDir(l.files.PathDir(l.path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
