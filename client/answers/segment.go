package answers

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// position is the place of a pack: how many bytes lie before it in all segments, from 1
// on. It is never given twice; 0 is none.
type position uint64

const (
	firstPosition position = 1

	segmentExt = ".segment"

	// segmentBytes are enough for a segment. It is the unit in which space is given back: what
	// is left of one is written anew, which should not take a second.
	segmentBytes = 32 << 20
)

// segment is a file of packs, one behind the other.
type segment struct {
	segmentState
	name     string
	file     vfs.File
	unsynced bool // it was written to
	unkept   bool // the database has another state
}

// replacement is an answer that has been replaced: its pack, and which one of that it is.
type replacement struct {
	pack  position
	index int
}

// segmentState is what the database keeps of a segment. What the file has beyond its end
// was not written to the end, and counts for nothing.
type segmentState struct {
	base, end position
	answers   uint64
	replaced  uint64 // of them
}

// segments are where answers lie. Bytes once written stay as they are, but for the marks of
// answers that have been replaced; what is new comes at the end. One goroutine may write,
// while any read.
type segments struct {
	fs       vfs.FS
	dir      string
	readOnly bool

	mu   sync.RWMutex // held while a file is used: it is not closed then
	list []*segment   // in the order of their positions
}

// add opens a segment's file, which has to be there.
func (s *segments) add(state segmentState) error {
	g := &segment{segmentState: state, name: s.name(state.base, segmentExt)}
	if _, err := s.fs.Stat(g.name); err != nil { // opened for writing, it would be made
		return &fileError{g.name, err}
	}
	var err error
	if g.file, err = s.open(g.name); err != nil {
		return &fileError{g.name, err}
	}
	s.list = append(s.list, g)
	return nil
}

func (s *segments) name(base position, ext string) string {
	return s.fs.PathJoin(s.dir, fmt.Sprintf("%020d%s", base, ext))
}

// parseName reads the position back that a file is named for; 0 if it is another file.
func parseName(name, ext string) position {
	digits, ok := strings.CutSuffix(name, ext)
	if n, err := strconv.ParseUint(digits, 10, 64); ok && err == nil {
		return position(n)
	}
	return 0
}

// addAll opens the segments that are there: each ends where the next one begins, and the
// last one where its file does.
func (s *segments) addAll() error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		base := parseName(name, segmentExt)
		if base == 0 {
			continue
		}
		info, err := s.fs.Stat(s.name(base, segmentExt))
		if err != nil {
			return err
		}
		s.endBefore(base)
		if err := s.add(segmentState{base: base, end: base + position(info.Size())}); err != nil {
			return err
		}
	}
	return nil
}

// endBefore has the last segment end before a position.
func (s *segments) endBefore(at position) {
	if n := len(s.list); n > 0 {
		s.list[n-1].end = min(s.list[n-1].end, at)
	}
}

func (s *segments) open(name string) (vfs.File, error) {
	if s.readOnly {
		return s.fs.Open(name)
	}
	return s.fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
}

// begin makes a new segment behind the last one. If its file is there, it is of a write that
// came to no end, and is written over.
func (s *segments) begin() (*segment, error) {
	base := s.end()
	name := s.name(base, segmentExt)
	file, err := s.open(name)
	if err == nil {
		err = s.syncDir()
	}
	if err != nil {
		return nil, err
	}
	last := &segment{segmentState: segmentState{base: base, end: base}, name: name, file: file, unkept: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, last)
	return last, nil
}

func (s *segments) syncDir() error {
	dir, err := s.fs.OpenDir(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// end is the position behind the last pack.
func (s *segments) end() position {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.list) == 0 {
		return firstPosition
	}
	return s.list[len(s.list)-1].end
}

// current is the segment that is written to.
func (s *segments) current() (*segment, error) {
	if n := len(s.list); n > 0 && s.list[n-1].end-s.list[n-1].base < segmentBytes {
		return s.list[n-1], nil
	}
	return s.begin()
}

// index is that of the first segment that ends behind a position; mu must be held.
func (s *segments) index(at position) int {
	i, _ := slices.BinarySearchFunc(s.list, at, func(g *segment, at position) int {
		if g.end <= at {
			return -1
		}
		return 1
	})
	return i
}

// of gives the segment that a position is in, nil if there is none; mu must be held.
func (s *segments) of(at position) *segment {
	if i := s.index(at); i < len(s.list) && s.list[i].base <= at {
		return s.list[i]
	}
	return nil
}

// read fills dst from a position on, as far as its segment goes. The error is errTorn if
// there are fewer than least bytes.
func (s *segments) read(dst []byte, at position, least int) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	g := s.of(at)
	if g == nil {
		return nil, errTorn
	}
	dst = dst[:min(uint64(len(dst)), uint64(g.end-at))]
	n, err := g.file.ReadAt(dst, int64(at-g.base))
	if err != nil && err != io.EOF {
		return nil, &fileError{g.name, err}
	}
	if n < least {
		return nil, errTorn
	}
	return dst[:n], nil
}

// mark marks an answer of the pack at a position as replaced. It is not durable before sync.
func (s *segments) mark(r replacement) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	g := s.of(r.pack)
	if g == nil {
		return nil
	}
	g.replaced++
	g.unsynced, g.unkept = true, true
	_, err := g.file.WriteAt([]byte{replacedMark}, int64(r.pack-g.base)+packHeaderSize+int64(r.index))
	return err
}

// grow tells of what was written to the end of a segment.
func (s *segments) grow(g *segment, bytes int, answers uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.end += position(bytes)
	g.answers += answers
	g.unsynced, g.unkept = true, true
}

// sync makes durable what was written.
func (s *segments) sync() error {
	for _, g := range s.list {
		if !g.unsynced {
			continue
		}
		if err := g.file.SyncData(); err != nil {
			return err
		}
		g.unsynced = false
	}
	return nil
}

// remove removes a segment and its file.
func (s *segments) remove(g *segment) error {
	s.mu.Lock()
	s.list = slices.DeleteFunc(s.list, func(other *segment) bool { return other == g })
	s.mu.Unlock()
	return errors.Join(g.file.Close(), s.fs.Remove(g.name))
}

func (s *segments) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, g := range s.list {
		err = errors.Join(err, g.file.Close())
	}
	s.list = nil
	return err
}

// fileError names the file that an error is about.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return e.name + ": " + e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }
