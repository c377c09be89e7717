//go:build !windows

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks an open file until the file is closed. It returns false if another process holds the lock.
func lockFile(f *os.File, wait bool) (bool, error) {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}
