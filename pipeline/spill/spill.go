// Package spill keeps many entries in temporary files, so that memory does not grow with their number.
package spill

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// Files is the number of files, into which the first byte of an entry divides the entries.
	Files = 256
	// held is the bytes of entries in memory, for each file. Fewer entries need no files.
	held = 8 << 10
)

// Spill has entries of one size. The first bytes of an entry are a hash, so that each file has about as many entries.
type Spill struct {
	size  int
	dir   string // of the files; "" before the first
	files [Files]*os.File
	bufs  [Files][]byte // entries that are not in the files
}

// New makes a spill for entries of a size in bytes. The caller closes it.
func New(size int) *Spill { return &Spill{size: size} }

// Close removes the temporary files.
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
	*s = Spill{size: s.size}
	return errors.Join(errs...)
}

// Add adds an entry.
func (s *Spill) Add(entry []byte) error {
	first := entry[0]
	s.bufs[first] = append(s.bufs[first], entry...)
	if len(s.bufs[first]) < held {
		return nil
	}
	if err := s.write(first); err != nil {
		return fmt.Errorf("write temporary files: %w", err)
	}
	return nil
}

// write moves entries from memory to their file.
func (s *Spill) write(first byte) (err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "bulkcat-spill-"); err != nil {
			return err
		}
	}
	if s.files[first] == nil {
		if s.files[first], err = os.Create(filepath.Join(s.dir, strconv.Itoa(int(first)))); err != nil {
			return err
		}
	}
	_, err = s.files[first].Write(s.bufs[first])
	s.bufs[first] = s.bufs[first][:0]
	return err
}

// Read calls visit for each entry with the first byte, in the order in which they were added. The entry is valid during
// the call. Entries may be read several times.
func (s *Spill) Read(first byte, visit func(entry []byte)) error {
	if f := s.files[first]; f != nil {
		if err := s.readFile(f, visit); err != nil {
			return fmt.Errorf("read temporary files: %w", err)
		}
	}
	for rest := s.bufs[first]; len(rest) > 0; rest = rest[s.size:] {
		visit(rest[:s.size])
	}
	return nil
}

// readFile reads a file to its end, where the next entries are written.
func (s *Spill) readFile(f *os.File, visit func(entry []byte)) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in, entry := bufio.NewReader(f), make([]byte, s.size)
	for {
		if _, err := io.ReadFull(in, entry); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		visit(entry)
	}
}
