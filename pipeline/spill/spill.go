// Package spill sorts many entries, in temporary files if they are many, so that memory does not grow with their number.
package spill

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

const (
	// fan is the number of files, into which a byte of an entry divides the entries.
	fan = 256
	// held is the bytes of entries in memory, for each file. Fewer entries need no files.
	held = 8 << 10
	// mostSorted is the bytes of entries that are sorted in memory. A file with more is divided by the next byte.
	mostSorted = 32 << 20
	// mostBytes bounds the bytes that divide the entries: equal entries are not divided by any.
	mostBytes = 16
)

// Spill has entries of any size. Entries whose first bytes are of a hash, or alike in another way, need the least memory.
type Spill struct {
	temp  string // the folder for temporary files; "" for the system's
	at    int    // the byte that divides the entries
	dir   string // of the files; "" before the first
	files [fan]*os.File
	bufs  [fan][]byte // entries that are not in the files
	sizes [fan]int    // of all entries, in bytes
}

// New makes a spill with temporary files in a folder; "" for the system's. The caller closes it.
func New(temp string) *Spill { return &Spill{temp: temp} }

// Close removes the temporary files, and all entries.
func (s *Spill) Close() error {
	var errs []error
	for _, f := range s.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	*s = Spill{temp: s.temp, at: s.at}
	return errors.Join(errs...)
}

// Add adds a copy of an entry.
func (s *Spill) Add(entry []byte) error {
	k := 0 // also of an entry that has no such byte
	if s.at < len(entry) {
		k = int(entry[s.at])
	}
	before := len(s.bufs[k])
	s.bufs[k] = append(binary.AppendUvarint(s.bufs[k], uint64(len(entry))), entry...)
	if s.sizes[k] += len(s.bufs[k]) - before; len(s.bufs[k]) < held {
		return nil
	}
	if err := s.write(k); err != nil {
		return fmt.Errorf("write temporary files: %w", err)
	}
	return nil
}

// write moves entries from memory to their file.
func (s *Spill) write(k int) (err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp(s.temp, "bulkcat-spill-"); err != nil {
			return err
		}
	}
	if s.files[k] == nil {
		if s.files[k], err = os.Create(filepath.Join(s.dir, strconv.Itoa(k))); err != nil {
			return err
		}
	}
	_, err = s.files[k].Write(s.bufs[k])
	s.bufs[k] = s.bufs[k][:0]
	return err
}

// Sorted gives the entries in the order of their bytes, equal ones each. An entry is valid until the next one. Entries may be
// read several times, and others added after that.
func (s *Spill) Sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for k := range fan {
			if !s.yield(k, yield) {
				return
			}
		}
	}
}

// yield yields the sorted entries of a file. It reports whether the caller wants more.
func (s *Spill) yield(k int, yield func([]byte, error) bool) bool {
	var list [][]byte
	add := func(entry []byte) error { list = append(list, entry); return nil }
	if s.sizes[k] > mostSorted && s.at < mostBytes {
		below := &Spill{temp: s.temp, at: s.at + 1}
		defer below.Close() // of temporary files
		if err := s.read(k, below.Add); err != nil {
			yield(nil, err)
			return false
		}
		for entry, err := range below.Sorted() {
			if !yield(entry, err) || err != nil {
				return false
			}
		}
		return true
	}
	if err := s.read(k, add); err != nil {
		yield(nil, err)
		return false
	}
	slices.SortFunc(list, bytes.Compare)
	for _, entry := range list {
		if !yield(entry, nil) {
			return false
		}
	}
	return true
}

// read calls visit for each entry of a file and of its buffer. visit may keep the entry until the next Add.
func (s *Spill) read(k int, visit func(entry []byte) error) error {
	if f := s.files[k]; f != nil {
		if err := readFile(f, visit); err != nil {
			return fmt.Errorf("read temporary files: %w", err)
		}
	}
	for rest := s.bufs[k]; len(rest) > 0; {
		n, size := binary.Uvarint(rest)
		end := size + int(n)
		if err := visit(rest[size:end]); err != nil {
			return err
		}
		rest = rest[end:]
	}
	return nil
}

// readFile reads a file to its end, where the next entries are written.
func readFile(f *os.File, visit func(entry []byte) error) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(f)
	var memory []byte // of many entries
	for {
		size, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		n := int(size)
		if len(memory) < n {
			memory = make([]byte, max(64<<10, n))
		}
		entry := memory[:n:n]
		memory = memory[n:]
		if _, err := io.ReadFull(in, entry); err != nil {
			return err
		}
		if err := visit(entry); err != nil {
			return err
		}
	}
}
