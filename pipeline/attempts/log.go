// Package attempts keeps a row of each attempt of a run in a log, and publishes the rows as a table, with which one checks
// an invoice.
//
// The log is JSON lines in FILE.log, beside the table: a line that names the run, and a line for each attempt of all its
// starts. It stays when the run is complete, so that a later start adds to it. A line is written when its attempt ends,
// so that it outlives the process, and is synced before the answer of the attempt is stored, so that it outlives the machine.
package attempts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// Row is an attempt.
type Row struct {
	Time           time.Time `json:"time"`  // when it began
	Input          string    `json:"input"` // as it was sent
	Classification string    `json:"classification"`
	Status         string    `json:"status"` // answered, canceled, an HTTP status, timeout, or another Label of a *client.Error
	Milliseconds   float64   `json:"milliseconds"`
	Attempt        int       `json:"attempt"` // of the input in this start, from 1

	Cost *money.Amount `json:"cost"` // at most; nil without a price
}

// Log is the log of a run. The methods may be called by several goroutines; those of a nil Log do nothing.
type Log struct {
	path string // of the table

	mu    sync.Mutex
	file  *os.File
	err   error // of the first line that could not be written; no line follows
	dirty bool  // lines are not synced
}

// TakenError says that a file has the attempts of another run, or is another file.
type TakenError struct {
	Path string
}

func (e *TakenError) Error() string {
	return e.Path + " is not of this run, whose attempts it would lose: name another file, or overwrite it"
}

// logSuffix makes the name of the log from that of the table.
const logSuffix = ".log"

// Files are the files of the table at path: itself and its log.
func Files(path string) []string { return []string{path, path + logSuffix} }

// header is the first line of a log.
type header struct {
	AttemptsOf string `json:"attempts_of"` // the RunID
}

// Open opens the log of the table at path, for a run by its RunID. What follows the last whole line is cut off. Unless
// overwrite is set, the error of a log or a table that is not of the run is a *TakenError.
func Open(path, run string, overwrite bool) (*Log, error) {
	if _, err := formatOf(path); err != nil {
		return nil, err
	}
	name := path + logSuffix
	_, err := os.Stat(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	if _, err := os.Stat(path); isNew && err == nil && !overwrite {
		return nil, &TakenError{path}
	}
	file, err := regular.OpenOwn(name, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, file: file}
	if err := l.begin(run, overwrite); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// begin keeps the whole lines of a log of the run, or begins a new one.
func (l *Log) begin(run string, overwrite bool) error {
	var first header
	size, err := l.each(func(line []byte) error {
		if first.AttemptsOf != "" {
			return nil
		}
		err := json.Unmarshal(line, &first)
		if err != nil || first.AttemptsOf == "" {
			return &TakenError{l.file.Name()}
		}
		return nil
	})
	if err == nil && size == 0 && !l.isCut(run) {
		err = &TakenError{l.file.Name()}
	}
	_, isTaken := errors.AsType[*TakenError](err)
	switch {
	case err != nil && !(isTaken && overwrite):
		return err
	case err == nil && first.AttemptsOf == run:
		return l.file.Truncate(size)
	case err == nil && first.AttemptsOf != "" && !overwrite:
		return &TakenError{l.file.Name()}
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	l.write(header{run})
	if err := l.Sync(); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(l.path))
}

// isCut reports whether a log without a whole line is new, or of a process that was killed while it wrote the first.
func (l *Log) isCut(run string) bool {
	first, err := json.Marshal(header{run})
	begun := make([]byte, len(first)+1)
	n, _ := l.file.ReadAt(begun, 0) // an error shows again when the line is written
	return err == nil && bytes.HasPrefix(first, begun[:n])
}

// each calls use for each whole line, and returns where the last ends.
func (l *Log) each(use func(line []byte) error) (size int64, err error) {
	lines := bufio.NewReader(io.NewSectionReader(l.file, 0, 1<<62))
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return size, nil
		}
		if err == nil {
			err = use(bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			return size, err
		}
		size += int64(len(line))
	}
}

// Append adds an attempt. The error is that of the first line that could not be written.
func (l *Log) Append(row Row) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(row)
	return l.err
}

func (l *Log) write(line any) {
	text, err := json.Marshal(line)
	if err == nil && l.err == nil {
		_, err = l.file.Write(append(text, '\n'))
		l.dirty = true
	}
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("write %s: %w", l.file.Name(), disk.Cause(err))
	}
}

// Sync makes the attempts durable.
func (l *Log) Sync() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = false
	l.mu.Unlock()
	if !dirty {
		return nil
	}
	return l.file.Sync()
}

// Close publishes all attempts of the log as a table, and closes the log.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.Sync(), l.publish(), l.file.Close())
}
