// Package spill sorts entries in bounded memory. It keeps many entries in temporary files.
package spill

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// fan is the number of files. One byte of an entry selects its file.
	fan = 256
	// bufferSize is the size of the buffer of each file in bytes. A few entries stay in the buffers.
	bufferSize = 8 << 10
	// mostSorted is the size of a file that is sorted in memory, in bytes. The next byte of the entries splits a larger file.
	mostSorted = 32 << 20
	// mostBytes is the number of bytes that are tried for a split: no byte splits equal entries.
	mostBytes = 16
)

// ID is a hash of texts, with which entries may begin. Two of ten million texts have equal IDs with a probability of about 10⁻²⁴.
type ID [16]byte

// IDOf returns the beginning of the SHA-256 of texts with zero bytes between.
func IDOf(texts ...string) ID {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return ID(sum[:])
}

// Spill sorts entries of any size. It needs the least memory if the first bytes of the entries are evenly distributed, such as
// those of a hash.
type Spill struct {
	temp  string // the folder for temporary files; "" for the system's
	at    int    // index of the byte that selects the file
	dir   string // of the files; "" before the first file
	files [fan]*os.File
	bufs  [fan][]byte // entries that are not in the files yet
	sizes [fan]int    // of the files and buffers, in bytes
}

// New returns a Spill with temporary files in the folder temp; "" for the system's. The caller closes it.
func New(temp string) *Spill { return &Spill{temp: temp} }

// Close removes all entries and the temporary files.
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
	k := 0 // for an entry that is too short
	if s.at < len(entry) {
		k = int(entry[s.at])
	}
	before := len(s.bufs[k])
	s.bufs[k] = append(binary.AppendUvarint(s.bufs[k], uint64(len(entry))), entry...)
	if s.sizes[k] += len(s.bufs[k]) - before; len(s.bufs[k]) < bufferSize {
		return nil
	}
	if err := s.write(k); err != nil {
		return fmt.Errorf("write temporary files: %w", err)
	}
	return nil
}

// write moves the entries of a buffer to its file.
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

// Sorted returns the entries in the order of their bytes, including duplicates. An entry is valid until the next iteration.
// Sorted may be called several times, and Add after it.
func (s *Spill) Sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for k := range fan {
			if !s.yield(k, yield) {
				return
			}
		}
	}
}

// yield yields the sorted entries of a file and its buffer. It reports whether the iteration goes on.
func (s *Spill) yield(k int, yield func([]byte, error) bool) bool {
	var list [][]byte
	add := func(entry []byte) error { list = append(list, entry); return nil }
	if s.sizes[k] > mostSorted && s.at < mostBytes {
		below := &Spill{temp: s.temp, at: s.at + 1}
		defer below.Close() // an error leaves only temporary files
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

// read calls visit for each entry of a file and its buffer. The entry is valid until the next Add.
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

// readFile calls visit for each entry of a file. It leaves the offset at the end, for the next write.
func readFile(f *os.File, visit func(entry []byte) error) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(f)
	var memory []byte // shared by many entries
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
