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

// use says what a request is there for, and whether it is answered.
type use byte

const (
	exactly  use = 1 << iota // an input, as it is spelled
	bySite                   // all spellings of a website
	answered                 // by the store

	uses = 1 << iota // combinations of them
)

// distinct counts different requests by their uses, in flat memory: hashes go to one of many
// small files by their first byte, and each file is counted by itself.
type distinct struct {
	dir   string
	files [256]*os.File
	bufs  [256]*bufio.Writer
}

// hashSize bytes of SHA-256 make two different requests of ten million equal with a
// probability of about 10⁻²⁴.
const hashSize = 16

func newDistinct() (*distinct, error) {
	dir, err := os.MkdirTemp("", "bulkcat-distinct-")
	if err != nil {
		return nil, fmt.Errorf("count distinct requests: %w", err)
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

// add adds uses to those of a request.
func (d *distinct) add(request string, u use) error {
	sum := sha256.Sum256([]byte(request))
	i := sum[0]
	if d.files[i] == nil {
		f, err := os.Create(filepath.Join(d.dir, strconv.Itoa(int(i))))
		if err != nil {
			return fmt.Errorf("count distinct requests: %w", err)
		}
		d.files[i], d.bufs[i] = f, bufio.NewWriterSize(f, 8<<10)
	}
	var entry [hashSize + 1]byte
	copy(entry[:], sum[:hashSize])
	entry[hashSize] = byte(u)
	if _, err := d.bufs[i].Write(entry[:]); err != nil {
		return fmt.Errorf("count distinct requests: %w", err)
	}
	return nil
}

// tally counts inputs by all of their uses.
type tally [uses]int64

// of gives how many inputs have the uses, whatever others they have.
func (t *tally) of(wanted use) (n int64) {
	for u, count := range t {
		if use(u)&wanted == wanted {
			n += count
		}
	}
	return n
}

func (t *tally) toAsk(mode use) int64 { return t.of(mode) - t.of(mode|answered) }

// count reads the files back, one after the other.
func (d *distinct) count() (t tally, err error) {
	for i, f := range d.files {
		if f == nil {
			continue
		}
		seen, err := d.load(i, f)
		if err != nil {
			return tally{}, fmt.Errorf("count distinct requests: %w", err)
		}
		for _, u := range seen {
			t[u]++
		}
	}
	return t, nil
}

func (d *distinct) load(i int, f *os.File) (map[[hashSize]byte]use, error) {
	if err := d.bufs[i].Flush(); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	seen := make(map[[hashSize]byte]use)
	in := bufio.NewReader(f)
	var entry [hashSize + 1]byte
	for {
		if _, err := io.ReadFull(in, entry[:]); errors.Is(err, io.EOF) {
			return seen, nil
		} else if err != nil {
			return nil, err
		}
		seen[[hashSize]byte(entry[:])] |= use(entry[hashSize])
	}
}
