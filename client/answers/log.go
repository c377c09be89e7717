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

	// logBytes are enough for a log file. The next pack begins a new file.
	logBytes = 32 << 20
)

// place is where a pack begins: the number of its log file in the upper 32 bits, the offset in
// the file in the lower 32 bits. 0 is no place.
type place uint64

func placeIn(file uint32, offset int64) place { return place(file)<<32 | place(offset) }

func (p place) file() uint32  { return uint32(p >> 32) }
func (p place) offset() int64 { return int64(uint32(p)) }

func (p place) append(dst []byte) []byte { return binary.BigEndian.AppendUint64(dst, uint64(p)) }

// parsePlace is the inverse of append; 0 for bytes that are no place.
func parsePlace(text []byte) place {
	if len(text) != 8 {
		return 0
	}
	return place(binary.BigEndian.Uint64(text))
}

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

// open opens the files that are there. The error is a *VersionError or the disk's.
func (l *log) open() error {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if number := parseLogName(name); number != 0 {
			if err := l.add(number); err != nil {
				return err
			}
		}
	}
	return nil
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

// add opens a file, or creates the file and writes its header.
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
	l.mu.Lock()
	l.files = append(l.files, f) // close closes the file, also after an error
	l.mu.Unlock()
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.end = max(info.Size(), int64(len(logHeader)))
	if info.Size() < f.end && !l.readOnly { // new, or of a process that was killed here
		if _, err := f.file.WriteAt([]byte(logHeader), 0); err != nil {
			return err
		}
		return errors.Join(f.file.Sync(), syncFolder(l.fs, l.dir))
	}
	return f.checkHeader(l.dir)
}

// checkHeader refuses another format. A header that is damaged otherwise does no harm.
func (f *logFile) checkHeader(dir string) error {
	header := make([]byte, len(logHeader)+8)
	n, err := f.file.ReadAt(header, 0)
	if err != nil && err != io.EOF {
		return err
	}
	version, ok := bytes.CutPrefix(header[:n], []byte(logTitle))
	version, _, ends := bytes.Cut(version, []byte("\n"))
	if _, err := strconv.ParseUint(string(version), 10, 32); ok && ends && err == nil && string(version) != formatVersion {
		return &VersionError{Dir: dir, Version: string(version)}
	}
	return nil
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

// end is the place behind the last pack.
func (l *log) end() place {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return placeIn(l.last().number, l.last().end)
}

// roll closes the last file for good and begins a new file.
func (l *log) roll() error { return l.add(l.last().number + 1) }

// append makes packs durable that were made for the end of the log.
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
	return l.checkThere()
}

// checkThere returns a *GoneError if the last file is no longer under its name. A shorter file
// of that name belongs to a store that another process has begun there.
func (l *log) checkThere() error {
	info, err := l.fs.Stat(l.last().name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < l.last().end {
		return &GoneError{Dir: l.dir}
	}
	return err
}

// cut makes the last file end at an offset: zeros overwrite what a process that was killed has
// left behind the last whole pack.
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
		l.files = slices.Delete(l.files, 0, 1)
		if err = f.file.Close(); !l.readOnly {
			err = errors.Join(err, l.fs.Remove(f.name))
		}
	}
	return err
}

// checkComplete returns an error that names the first file that is missing from number first to
// number last, or behind.
func (l *log) checkComplete(first, last uint32) error {
	for _, f := range l.files {
		if f.number == first {
			first++
		}
	}
	if first <= max(last, l.last().number) {
		return &fileError{l.name(first), fs.ErrNotExist}
	}
	return nil
}

func (l *log) name(number uint32) string {
	return l.fs.PathJoin(l.dir, fmt.Sprintf("%08d%s", number, logExt))
}

func (l *log) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	for _, f := range l.files {
		err = errors.Join(err, f.file.Close())
	}
	l.files = nil
	return err
}

// find returns the index of the first file whose number is not below n; mu must be held.
func (l *log) find(n uint32) int {
	i, _ := slices.BinarySearchFunc(l.files, n, func(f *logFile, n uint32) int { return int(int64(f.number) - int64(n)) })
	return i
}

// from returns the first place, not before at, that may hold a pack, and the end of its file;
// twice the same at the end of the log.
func (l *log) from(at place) (first, end place) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, f := range l.files[l.find(at.file()):] {
		first, end = max(at, placeIn(f.number, int64(len(logHeader)))), placeIn(f.number, f.end)
		if first < end {
			return first, end
		}
	}
	return at, at
}

// errTorn says that the log ends before the bytes that are asked for.
var errTorn = errors.New("the log ends early")

// read fills dst from a place on, as far as the file goes. The error is errTorn for fewer than
// least bytes.
func (l *log) read(dst []byte, at place, least int) ([]byte, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i := l.find(at.file())
	if i == len(l.files) || l.files[i].number != at.file() {
		return nil, errTorn
	}
	f := l.files[i]
	n, err := f.file.ReadAt(dst[:max(0, min(int64(len(dst)), f.end-at.offset()))], at.offset())
	if err != nil && err != io.EOF {
		return nil, &fileError{f.name, err}
	}
	if n < least {
		return nil, errTorn
	}
	return dst[:n], nil
}

// fileError names the file that an error is about.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return e.name + ": " + e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }
