package writer

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Lock keeps other processes from an output and from what lies beside it. It is a lock of the operating
// system on a hidden file ".NAME.lock" beside the output, and so ends with the process, however that
// ends; the file may stay behind, and says which run was killed while the output was its own.
type Lock struct {
	file  *os.File
	claim string
}

// TryLock locks the output at path. If another process holds the lock, the error is a *BusyError.
func TryLock(path string) (*Lock, error) { return lock(path, false) }

// WaitLock locks path as TryLock does, but waits for another process to release it.
func WaitLock(path string) (*Lock, error) { return lock(path, true) }

func lock(path string, wait bool) (*Lock, error) {
	path = filepath.Clean(path)
	dir, name := filepath.Split(path)
	for {
		f, err := os.OpenFile(filepath.Join(dir, "."+name+".lock"), os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, failed("locking", path, err)
		}
		locked, err := lockFile(f, wait)
		if err == nil && locked && isInPlace(f) {
			l := &Lock{file: f}
			_, l.claim = readLock(f)
			return l, l.write(path, l.claim)
		}
		pid, _ := readLock(f)
		f.Close() // nothing was written
		switch {
		case err != nil:
			return nil, failed("locking", path, err)
		case !locked:
			return nil, &BusyError{Path: path, PID: pid}
		}
		// The file was removed by the process that had the lock before.
	}
}

// isInPlace says whether the file still has its name.
func isInPlace(f *os.File) bool {
	mine, err := f.Stat()
	there, statErr := os.Stat(f.Name())
	return err == nil && statErr == nil && os.SameFile(mine, there)
}

// readLock gives the process that had the lock last, and the claim; both may be missing.
func readLock(f *os.File) (pid int, claim string) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<10))
	if err != nil {
		return 0, ""
	}
	number, claim, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, _ = strconv.Atoi(number) // 0 if it is none
	return pid, claim
}

func (l *Lock) write(path, claim string) error {
	text := strings.TrimSpace(fmt.Sprint(os.Getpid(), " ", claim)) + "\n"
	_, err := l.file.WriteAt([]byte(text), 0)
	return failed("locking", path, cmp.Or(err, l.file.Truncate(int64(len(text)))))
}

// Claimed is the run that was told to Claim last and never came to Settle; "" if there is none.
func (l *Lock) Claimed() string { return l.claim }

// Claim keeps durably which run writes the output, before there is anything of it. What a killed run
// leaves in the output's place can be told by it from what is somebody else's.
func (l *Lock) Claim(run string) error {
	err := l.write(l.file.Name(), run)
	if err == nil {
		l.claim = run
		err = failed("locking", l.file.Name(), cmp.Or(l.file.Sync(), osFS{}.SyncDir(filepath.Dir(l.file.Name()))))
	}
	return err
}

// Settle gives the claim up: what the run has written says itself whose it is.
func (l *Lock) Settle() { l.claim = "" }

// Release lets other processes have the output. A claim that is not settled stays for the next of them.
// It does nothing to a Lock that is nil.
func (l *Lock) Release() {
	if l == nil {
		return
	}
	if l.claim == "" {
		_ = os.Remove(l.file.Name()) // what stays does no harm
	}
	_ = l.file.Close() // which ends the lock, whatever it returns
}

// removeDrafts removes the drafts that processes which were killed have left in dir for targets that
// match. Those of a live process are safe: it holds the output's Lock. What cannot be removed stays: it
// does no harm.
func removeDrafts(fsys fileSystem, dir string, match func(name string) bool) {
	entries, _ := fsys.ReadDir(dir)
	for _, e := range entries {
		if name, ok := parseTemp(e.Name()); ok && match(name) {
			_ = fsys.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
