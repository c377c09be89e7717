package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/writer/regular"
)

// Lock is the exclusive right of a process to write an output and the files beside it. It is an operating-system lock on the
// file "lock" in RunFolder. TryLock creates the file; the operating system releases the lock when the process ends. After a
// crash the file stays, with the claim of the killed run.
type Lock struct {
	file  *os.File
	claim string
}

// TryLock locks the output at path. The error is a *BusyError if another process holds the lock, else an *Error.
func TryLock(path string) (*Lock, error) {
	path = filepath.Clean(path)
	for {
		if err := makeOwn(RunFolder(path)); err != nil {
			return nil, Failed("locking", path, err)
		}
		f, err := regular.OpenOwn(filepath.Join(RunFolder(path), "lock"), os.O_RDWR|os.O_CREATE)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the previous owner has removed the folder
		}
		if err != nil {
			return nil, Failed("locking", path, err)
		}
		if !isLock(f) {
			f.Close() // nothing was written
			return nil, Failed("locking", path, fmt.Errorf("%s is no lock of bulkcat: move it elsewhere", f.Name()))
		}
		locked, err := lockFile(f)
		if err == nil && locked && isInPlace(f) {
			l := &Lock{file: f}
			_, l.claim = readLock(f)
			removeDrafts(RunFolder(path))
			return l, l.write(path, l.claim)
		}
		pid, _ := readLock(f)
		f.Close() // nothing was written
		switch {
		case err != nil:
			return nil, Failed("locking", path, err)
		case !locked:
			return nil, &BusyError{Path: path, PID: pid}
		}
		// The previous owner has removed the file: lock the next file of this name.
	}
}

// makeOwn makes a folder, unless it exists. It refuses a link, because the link may lead to a folder of someone else.
func makeOwn(folder string) error {
	err := os.Mkdir(folder, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		return nil
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is no folder of bulkcat: move it elsewhere", folder)
	}
	return err
}

// removeDrafts removes the drafts of killed processes in the folder of an output, whose lock the caller has.
func removeDrafts(folder string) {
	files, _ := os.ReadDir(folder) // a leftover file does no harm
	for _, file := range files {
		if unique, found := strings.CutPrefix(file.Name(), tempPrefix); found && isUnique(unique) {
			_ = os.Remove(filepath.Join(folder, file.Name()))
		}
	}
}

// isInPlace reports whether f is still the file with its name.
func isInPlace(f *os.File) bool {
	mine, err := f.Stat()
	there, statErr := os.Lstat(f.Name())
	return err == nil && statErr == nil && os.SameFile(mine, there)
}

// isLock reports whether the content of a file may be the content of a lock. A lock may end with a part of earlier content if a
// process was killed while it wrote, or have zeros after a power failure.
func isLock(f *os.File) bool {
	const most = 1 << 10
	info, err := f.Stat()
	if err != nil || info.Size() > most {
		return false
	}
	first := make([]byte, 1)
	n, _ := f.ReadAt(first, 0) // n is 0 for an empty file
	return n == 0 || first[0] == 0 || first[0] >= '0' && first[0] <= '9'
}

// readLock returns the PID of the last process that held the lock, or 0, and its claim, or "".
func readLock(f *os.File) (pid int, claim string) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<10))
	if err != nil {
		return 0, ""
	}
	number, claim, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, _ = strconv.Atoi(number) // 0 after an error
	return pid, claim
}

func (l *Lock) write(path, claim string) error {
	text := strings.TrimSpace(fmt.Sprint(os.Getpid(), " ", claim)) + "\n"
	_, err := l.file.WriteAt([]byte(text), 0)
	return Failed("locking", path, cmp.Or(err, l.file.Truncate(int64(len(text)))))
}

// Claimed returns the run of the last Claim without DropClaim, perhaps of a killed process; "" for none.
func (l *Lock) Claimed() string { return l.claim }

// Claim durably records the run that will write the output. If the run is killed, the next process recognizes the run's files.
// The error is an *Error.
func (l *Lock) Claim(run string) error {
	err := l.write(l.file.Name(), run)
	if err == nil {
		l.claim = run
		folder := filepath.Dir(l.file.Name())
		err = Failed("locking", l.file.Name(), cmp.Or(l.file.Sync(), SyncDir(folder), SyncDir(filepath.Dir(folder))))
	}
	return err
}

// DropClaim removes the claim, once the output itself names the run that wrote it.
func (l *Lock) DropClaim() { l.claim = "" }

// Release ends the lock, and removes the folder if nothing else is in it. A claim without DropClaim stays in the file for
// the next process. Release does nothing for a nil Lock.
func (l *Lock) Release() {
	if l == nil {
		return
	}
	if runtime.GOOS == "windows" { // Windows removes no open file: this file must be closed first, and the next owner's file stays
		_ = l.file.Close()
	}
	if l.claim == "" {
		_ = os.Remove(l.file.Name()) // a leftover file does no harm
		_ = os.Remove(filepath.Dir(l.file.Name()))
	}
	_ = l.file.Close() // ends the lock even if it returns an error
}
