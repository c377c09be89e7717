package answers

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
)

// Compact frees all unused space of the store. Other processes that write wait until it has finished. If ctx ends, the store has the
// same answers, and the error is the context's cause.
func (s *Store) Compact(ctx context.Context) error {
	return s.use(true, func(c *conn) error {
		err := c.interruptible(ctx, "VACUUM")
		if err == nil {
			err = empty(ctx, c)
		}
		return err
	})
}

// mostEmptying is the longest time for which no process can write while empty waits for processes that read.
const mostEmptying = time.Second

// empty moves all pages from the journal into the database, and empties the journal, once no process reads an earlier state.
func empty(ctx context.Context, c *conn) error {
	_ = c.BusyTimeout(mostEmptying) // never fails
	defer c.BusyTimeout(mostBusy)   // never fails
	return waitFree(func() error {
		if ctx.Err() != nil {
			return &callerError{context.Cause(ctx)}
		}
		_, _, err := c.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
		return err
	})
}

// Delete deletes the outcomes of all matching requests, of any source, and returns their number. When it returns nil, no file
// of the store contains them. After an error or the end of ctx, files may still contain some: call Delete again.
func (s *Store) Delete(ctx context.Context, match func(source string, r client.Request) bool) (deleted int, err error) {
	err = s.use(true, func(c *conn) error {
		err := c.CreateFunction("matches", 4, sqlite3.DIRECTONLY, func(result sqlite3.Context, arg ...sqlite3.Value) {
			r := client.Request{Kind: client.Kind(arg[1].Text()), Classification: arg[2].Text(), Input: arg[3].Text()}
			result.ResultBool(match(arg[0].Text(), r))
		})
		if err == nil {
			err = c.interruptible(ctx, "DELETE FROM answers WHERE matches(service, kind, classification, input)")
		}
		if err == nil {
			deleted = int(c.Changes())
			err = empty(ctx, c)
		}
		return err
	})
	return deleted, err
}

// interruptible runs a statement until ctx ends. The error is then the context's cause, and the store is unchanged.
func (c *conn) interruptible(ctx context.Context, sql string) error {
	old := c.SetInterrupt(ctx) // also interrupts the statement if ctx has ended already
	defer c.SetInterrupt(old)
	err := c.Exec(sql)
	if err != nil && ctx.Err() != nil {
		return &callerError{context.Cause(ctx)}
	}
	return err
}

// Imported counts the outcomes of an import.
type Imported struct {
	Added int64 `json:"added"` // new, or newer than the stored outcome
	Kept  int64 `json:"kept"`  // not imported: the stored outcome is as new or newer
}

// Import adds the outcomes that scan passes to visit, as Scan of another store does. Of two outcomes of one request, the newer
// is kept. If ctx ends, the error is the context's cause, and the outcomes imported so far stay.
func (s *Store) Import(ctx context.Context, scan func(visit func(Stored) error) error) (Imported, error) {
	b := &Batch{store: s, insert: insertNewer}
	err := scan(func(o Stored) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return b.addRow(newRow(o.Source, o.Request, o.Outcome))
	})
	err = errors.Join(err, b.Commit())
	return b.counts, err
}

// addRow puts a row into the batch, and commits a batch of scanRows.
func (b *Batch) addRow(w row) error {
	if b.rows = append(b.rows, w); len(b.rows) < scanRows {
		return nil
	}
	return b.Commit()
}

// copyPages is the number of pages that are copied between two checks of the context.
const copyPages = 1024

// Copy writes the present state of the store to a new file. Other goroutines and processes may use the store meanwhile. The
// error wraps fs.ErrExist if the file exists.
func (s *Store) Copy(ctx context.Context, path string) error {
	return writeNew("copy to", path, func(draft string) error {
		target := Options{Path: draft, vfs: s.options.vfs}
		if err := target.makeFile(); err != nil { // makes the pages with room for checksums
			return err
		}
		return s.read(func(c *conn) error {
			return c.transaction("BEGIN", func() error { return c.copyTo(ctx, target.uri()) }) // one consistent state
		})
	})
}

func (c *conn) copyTo(ctx context.Context, uri string) (err error) {
	if err := c.query("SELECT count(*) FROM owners", nil); err != nil { // begins to read
		return err
	}
	b, err := c.BackupInit("main", uri)
	if err != nil {
		return &callerError{err} // an error of the new file, not of the store
	}
	defer func() { err = cmp.Or(err, b.Close()) }() // Close repeats the error of Step
	for done := false; !done && err == nil; {
		if ctx.Err() != nil {
			return &callerError{context.Cause(ctx)}
		}
		done, err = b.Step(copyPages)
	}
	if err != nil && !errors.Is(err, sqlite3.IOERR_READ) && !errors.Is(explain("", err), Damaged) {
		return &callerError{err} // as above: a store that is only read is not written
	}
	return err
}

// writeNew makes a new store at path: whole, or not at all. The function write makes it at the path of the draft.
func writeNew(op, path string, write func(draft string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: op, Path: path, Err: fs.ErrExist}
	}
	draft := path + ".part"
	if err := removeFiles(Files(draft)); err != nil {
		return err
	}
	defer removeFiles(Files(draft)) // after an error; else the draft has been renamed
	err := write(draft)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Kind == Failed && failed.Path == draft {
		return &fs.PathError{Op: op, Path: path, Err: failed.Err}
	}
	if errors.Is(err, sqlite3.FULL) { // a store that is only read needs no space
		return &fs.PathError{Op: op, Path: path, Err: syscall.ENOSPC}
	}
	_, explained := errors.AsType[*Error](err)
	if _, ok := errors.AsType[sqlite3.ErrorCode](err); ok && !explained {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	if err == nil {
		err = syncFile(draft)
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	return err
}

// removeFiles removes the files that are there.
func removeFiles(paths []string) (err error) {
	for _, path := range paths {
		if removeErr := os.Remove(path); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
