package answers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	logExt = ".log"

	// logHeader begins each log file. The number is the format version.
	logHeader     = logTitle + formatVersion + "\n"
	logTitle      = "bulkcat answers, format "
	formatVersion = "5"

	// logBytes are enough for a log file: the next pack begins a new file. Compaction copies a
	// file in less than a second.
	logBytes = 32 << 20

	// maxPack bounds the length that a header may tell. No answer is as long.
	maxPack = 1 << 30
)

// place is where a pack begins: the number of its log file in the upper 32 bits, the offset in
// the file in the lower 32 bits. 0 is no place.
type place uint64

func placeIn(file uint32, offset int64) place { return place(file)<<32 | place(offset) }

func (p place) file() uint32  { return uint32(p >> 32) }
func (p place) offset() int64 { return int64(uint32(p)) }

func (p place) append(dst []byte) []byte { return binary.BigEndian.AppendUint64(dst, uint64(p)) }

// log is the files of packs, in the order of their numbers. One goroutine may write while
// others read.
type log struct {
	fs       vfs.FS
	dir      string
	readOnly bool

	mu    sync.RWMutex // held while a file is used, so that the file stays open
	files []*logFile
}

type logFile struct {
	number uint32
	name   string
	file   vfs.File
	end    int64 // offset behind the last pack
}

// parseLogName returns the number of a log file; 0 for other files.
func parseLogName(name string) uint32 {
	digits, ok := strings.CutSuffix(name, logExt)
	number, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || len(digits) != 8 {
		return 0
	}
	return uint32(number)
}

func (l *log) name(number uint32) string {
	return l.fs.PathJoin(l.dir, fmt.Sprintf("%08d%s", number, logExt))
}

// add opens a file, or creates the file and writes its header. The error is a *VersionError or
// the disk's.
func (l *log) add(number uint32) error {
	f := &logFile{number: number, name: l.name(number)}
	var err error
	if l.readOnly {
		f.file, err = l.fs.Open(f.name)
	} else {
		f.file, err = l.fs.OpenReadWrite(f.name, vfs.WriteCategoryUnspecified)
	}
	if err != nil {
		return err
	}
	if err := l.check(f); err != nil {
		return errors.Join(err, f.file.Close())
	}
	l.mu.Lock()
	l.files = append(l.files, f)
	l.mu.Unlock()
	return nil
}

// check reads the header of a file, or writes it, and measures the file.
func (l *log) check(f *logFile) error {
	header := make([]byte, len(logHeader)+8)
	n, err := f.file.ReadAt(header, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if n < len(logHeader) && !l.readOnly { // new, or of a process that was killed here
		_, err := f.file.WriteAt([]byte(logHeader), 0)
		if err := errors.Join(err, f.file.Sync(), syncFolder(l.fs, l.dir)); err != nil {
			return err
		}
	}
	rest, titled := bytes.CutPrefix(header[:n], []byte(logTitle))
	version, _, ends := strings.Cut(string(rest), "\n")
	if _, err := strconv.ParseUint(version, 10, 32); titled && ends && err == nil && version != formatVersion {
		return &VersionError{Dir: l.dir, Version: version}
	}
	info, err := f.file.Stat() // a header that is damaged otherwise does no harm
	if err == nil {
		f.end = max(info.Size(), int64(len(logHeader)))
	}
	return err
}

// syncFolder makes the entries of a folder durable.
func syncFolder(files vfs.FS, name string) error {
	dir, err := files.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// last is the file that packs are appended to. Only the goroutine that writes calls last.
func (l *log) last() *logFile { return l.files[len(l.files)-1] }

// start is the place of the first pack.
func (l *log) start() place { return placeIn(l.files[0].number, int64(len(logHeader))) }

// end is the place behind the last pack. Only the goroutine that writes calls end.
func (l *log) end() place { return placeIn(l.last().number, l.last().end) }

// append makes packs durable that were made for the end of the log. The error is errGone if the
// last file is no longer under its name; a shorter file of that name belongs to a store that
// another process has begun there.
func (l *log) append(packs []byte) error {
	f := l.last()
	if _, err := f.file.WriteAt(packs, f.end); err != nil {
		return err
	}
	if err := f.file.SyncData(); err != nil {
		return err
	}
	l.mu.Lock()
	f.end += int64(len(packs))
	l.mu.Unlock()
	return l.present()
}

// present returns errGone if the last file is no longer under its name.
func (l *log) present() error {
	info, err := l.fs.Stat(l.last().name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < l.last().end {
		return errGone
	}
	return err
}

// cut ends the last file at an offset: zeros overwrite what a process that was killed has left
// behind the last whole pack.
func (l *log) cut(end int64) error {
	f := l.last()
	torn := f.end - end
	f.end = end
	if torn == 0 || l.readOnly {
		return nil
	}
	if _, err := f.file.WriteAt(make([]byte, torn), end); err != nil {
		return err
	}
	return f.file.SyncData()
}

// removeBefore removes the files before a number; a log that is only read leaves them on disk.
func (l *log) removeBefore(number uint32) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for err == nil && len(l.files) > 1 && l.files[0].number < number {
		f := l.files[0]
		l.files = l.files[1:]
		if err = f.file.Close(); !l.readOnly {
			err = errors.Join(err, l.fs.Remove(f.name))
		}
	}
	return err
}

// missing returns an error that names the first file that is missing from number first to number
// last, or behind.
func (l *log) missing(first, last uint32) error {
	for _, f := range l.files {
		if f.number == first {
			first++
		}
	}
	if first <= max(last, l.last().number) {
		return &fs.PathError{Op: "open", Path: l.name(first), Err: fs.ErrNotExist}
	}
	return nil
}

func (l *log) close() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.files {
		err = errors.Join(err, f.file.Close())
	}
	l.files = nil
	return err
}

// from returns the first place, not before at, that may hold a pack, and the end of its file;
// twice the same at the end of the log.
func (l *log) from(at place) (first, end place) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, f := range l.files {
		first, end = max(at, placeIn(f.number, int64(len(logHeader)))), placeIn(f.number, f.end)
		if first < end {
			return first, end
		}
	}
	return at, at
}

// read fills dst from a place on, as far as the file goes.
func (l *log) read(dst []byte, at place) ([]byte, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, found := slices.BinarySearchFunc(l.files, at.file(), func(f *logFile, n uint32) int { return int(int64(f.number) - int64(n)) })
	if !found {
		return nil, nil
	}
	f := l.files[i]
	n, err := f.file.ReadAt(dst[:max(0, min(int64(len(dst)), f.end-at.offset()))], at.offset())
	if err != nil && err != io.EOF {
		return nil, &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	return dst[:n], nil
}
