// Package attempts logs each attempt of a run, and publishes the log as a table. Users check invoices with the table.
//
// The log of the table FILE is FILE.log, in JSON lines: a header that names the run, and a line for each attempt of all its
// starts. The log stays when the run is complete, and a later start appends to it. A line is written when its attempt ends, so
// it survives a kill of the process. It is synced before the answer is stored, so it also survives a crash of the machine.
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
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// Row describes an attempt.
type Row struct {
	Time           time.Time `json:"time" parquet:"time,timestamp(microsecond)"` // when the attempt began
	Input          string    `json:"input" parquet:"input"`                      // as it was sent
	Classification string    `json:"classification" parquet:"classification,dict"`
	Status         string    `json:"status" parquet:"status,dict"` // answered, canceled, an HTTP status, timeout, or another Label of a *client.Error
	Milliseconds   float64   `json:"milliseconds" parquet:"milliseconds"`
	Attempt        int       `json:"attempt" parquet:"attempt"` // number of the attempt for this input in this start, from 1

	Cost *money.Amount `json:"cost" parquet:"cost,optional,decimal(9:18)"` // upper bound; nil without a price
}

// Log is the log of a run. It is safe for concurrent use. The methods of a nil Log do nothing.
type Log struct {
	path string // of the table

	mu    sync.Mutex
	file  *os.File
	err   error // the first error of a write; nothing is written after it
	lost  int64 // the lines since then, with that one
	dirty bool  // some lines are not synced
}

// TakenError says that a file has the attempts of another run, or is no log.
type TakenError struct {
	Path string
}

func (e *TakenError) Error() string {
	return e.Path + " does not belong to this run, which would replace its content: name another file"
}

// OptionName returns "pipeline.Requests".
func (e *TakenError) OptionName() string { return "pipeline.Requests" }

// logSuffix is appended to the name of the table.
const logSuffix = ".log"

// Files returns the names of the table at path and of its log.
func Files(path string) []string { return []string{path, path + logSuffix} }

// header is the first line of a log.
type header struct {
	AttemptsOf string `json:"attempts_of"` // the RunID
}

// Open opens the log of the table at path, and creates it if it does not exist. run is the RunID. Open cuts off an incomplete
// last line. If the log is of another run or is no log, or a table exists without a log, Open returns a *TakenError, or with
// overwrite begins a new log.
func Open(path, run string, overwrite bool) (*Log, error) {
	if err := Check(path); err != nil {
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

// begin keeps the complete lines of a log of the run, or begins a new log.
func (l *Log) begin(run string, overwrite bool) error {
	first, err := json.Marshal(header{run})
	if err != nil {
		return err
	}
	first = append(first, '\n')
	begun := make([]byte, len(first))
	n, err := l.file.ReadAt(begun, 0)
	switch {
	case err != nil && err != io.EOF:
		return err
	case n == len(first) && bytes.Equal(begun, first):
		size, err := l.each(func([]byte) error { return nil })
		if err != nil {
			return err
		}
		return l.file.Truncate(size)
	case !overwrite && !bytes.HasPrefix(first, begun[:n]): // a process that was killed while it wrote the header leaves its beginning
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

// each calls use for each complete line, without its newline. It returns the size of these lines.
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

// Append writes an attempt to the log. After a failed write, every call returns the error of that write.
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
	if l.err != nil {
		l.lost++
	}
}

// Sync flushes the log to the disk.
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

// Close publishes the attempts of all starts as the table, and closes the log. Attempts that the log could not take are an
// error, because tables of later starts lack them, too.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	var lost error
	if l.lost > 0 {
		lost = fmt.Errorf("%s lacks %d attempts, also after later starts", l.path, l.lost)
	}
	return errors.Join(l.Sync(), l.publish(), l.file.Close(), lost)
}

// Check returns an error unless path ends in .csv, .jsonl or .parquet.
func Check(path string) error {
	if !slices.Contains([]string{".csv", ".jsonl", ".parquet"}, filepath.Ext(path)) {
		return fmt.Errorf("%s must end in .csv, .jsonl or .parquet", path)
	}
	return nil
}

// publish writes the table from the log.
func (l *Log) publish() error {
	return disk.PublishFrom(l.path, func(out io.Writer) error {
		table, err := writer.NewTable[Row](out, writer.Format(filepath.Ext(l.path)[1:]))
		if err != nil {
			return err
		}
		isHeader := true
		_, err = l.each(func(line []byte) error {
			if isHeader {
				isHeader = false
				return nil
			}
			var row Row
			if err := json.Unmarshal(line, &row); err != nil {
				return fmt.Errorf("%s is damaged: %w", l.file.Name(), err)
			}
			return table.Write(row)
		})
		if err != nil {
			return err
		}
		return table.Close()
	})
}
