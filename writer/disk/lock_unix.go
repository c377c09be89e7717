//go:build !windows

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks an open file until the file is closed. It returns false if another process holds the lock.
func lockFile(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}
