package pipeline

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// distinct counts different inputs, and those of them that are answered, in flat
// memory: hashes go to one of many small files by their first byte, and each file is
// counted by itself.
type distinct struct {
	dir   string
	files [256]*os.File
	bufs  [256]*bufio.Writer
}

// hashSize bytes of SHA-256 make two different inputs of ten million equal with a
// probability of about 10⁻²⁴.
const hashSize = 16

func newDistinct() (*distinct, error) {
	dir, err := os.MkdirTemp("", "bulkcat-distinct-")
	if err != nil {
		return nil, fmt.Errorf("count distinct inputs: %w", err)
	}
	return &distinct{dir: dir}, nil
}

// close removes the temporary files.
func (d *distinct) close() error {
	var errs []error
	for _, f := range d.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(d.dir))...)
}

func (d *distinct) add(input string, answered bool) error {
	sum := sha256.Sum256([]byte(input))
	i := sum[0]
	if d.files[i] == nil {
		f, err := os.Create(filepath.Join(d.dir, strconv.Itoa(int(i))))
		if err != nil {
			return fmt.Errorf("count distinct inputs: %w", err)
		}
		d.files[i], d.bufs[i] = f, bufio.NewWriterSize(f, 8<<10)
	}
	var entry [hashSize + 1]byte
	copy(entry[:], sum[:hashSize])
	if answered {
		entry[hashSize] = 1
	}
	if _, err := d.bufs[i].Write(entry[:]); err != nil {
		return fmt.Errorf("count distinct inputs: %w", err)
	}
	return nil
}

// count reads the files back, one after the other.
func (d *distinct) count() (all, answered int64, err error) {
	for i, f := range d.files {
		if f == nil {
			continue
		}
		seen, err := d.load(i, f)
		if err != nil {
			return 0, 0, fmt.Errorf("count distinct inputs: %w", err)
		}
		all += int64(len(seen))
		for _, a := range seen {
			if a {
				answered++
			}
		}
	}
	return all, answered, nil
}

func (d *distinct) load(i int, f *os.File) (map[[hashSize]byte]bool, error) {
	if err := d.bufs[i].Flush(); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	seen := make(map[[hashSize]byte]bool)
	in := bufio.NewReader(f)
	var entry [hashSize + 1]byte
	for {
		if _, err := io.ReadFull(in, entry[:]); errors.Is(err, io.EOF) {
			return seen, nil
		} else if err != nil {
			return nil, err
		}
		seen[[hashSize]byte(entry[:])] = entry[hashSize] == 1
	}
}
