//go:build linux || darwin

package answers

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockByte locks a byte of an open file until the file is closed. It returns false if another open file holds the lock.
func lockByte(f *os.File, at int64) (bool, error) {
	err := setLock(f, at, unix.F_WRLCK)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

func unlockByte(f *os.File, at int64) error { return setLock(f, at, unix.F_UNLCK) }

func setLock(f *os.File, at int64, kind int16) error {
	for {
		err := unix.FcntlFlock(f.Fd(), setOwnLock, &unix.Flock_t{Type: kind, Start: at, Len: 1})
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
