package writer

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks an open file, and says whether it could. The lock lasts until the file is closed. It is
// on a byte behind the content, which others may read.
func lockFile(f *os.File, wait bool) (bool, error) {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
