package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks an open file until the file is closed. It returns false if another process holds the lock. It locks a byte
// after the content, because other processes must be able to read the content.
func lockFile(f *os.File) (bool, error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
