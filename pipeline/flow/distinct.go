package flow

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

// use says in which modes of dedupe a request is made, and whether the store has its outcome.
type use byte

const (
	exactly  use = 1 << iota // in a run by exact spellings
	bySite                   // in a run by sites
	answered                 // the store has the outcome

	uses = 1 << iota // number of combinations
)

// distinct counts different requests by their uses. Memory does not grow with the number of requests: the
// hashes are spread over 256 files by their first byte, and the files are counted one by one.
type distinct struct {
	dir   string
	files [256]*os.File
	bufs  [256]*bufio.Writer
}

// hashSize is in bytes of SHA-256. Among ten million requests, two have equal hashes with a probability of
// about 10⁻²⁴.
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

// add adds a use of a request.
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

// tally counts requests by their uses.
type tally [uses]int64

// of is the number of requests that have all wanted uses, and perhaps others.
func (t *tally) of(wanted use) (n int64) {
	for u, count := range t {
		if use(u)&wanted == wanted {
			n += count
		}
	}
	return n
}

func (t *tally) toAsk(mode use) int64 { return t.of(mode) - t.of(mode|answered) }

// count reads the files.
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
		if _, err := io.ReadFull(in, entry[:]); err == io.EOF {
			return seen, nil
		} else if err != nil {
			return nil, err
		}
		seen[[hashSize]byte(entry[:])] |= use(entry[hashSize])
	}
}
