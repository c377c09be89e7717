package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// beginWriteback starts writeback of a range of a file. It returns a disk error, which a later Sync may not repeat.
func beginWriteback(f *os.File, offset, n int64) error {
	return diskError(control(f, func(fd int) error { return unix.SyncFileRange(fd, offset, n, unix.SYNC_FILE_RANGE_WRITE) }))
}

// release waits until a range of a file is on disk, and then removes the range from the page cache. It returns a disk error,
// which a later Sync may not repeat.
func release(f *os.File, offset, n int64) error {
	const onDisk = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return diskError(control(f, func(fd int) error {
		if err := unix.SyncFileRange(fd, offset, n, onDisk); err != nil {
			return err
		}
		_ = unix.Fadvise(fd, offset, n, unix.FADV_DONTNEED) // only a hint
		return nil
	}))
}

func control(f *os.File, use func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if e := conn.Control(func(fd uintptr) { err = use(int(fd)) }); e != nil {
		return e
	}
	return err
}

// diskError returns nil for the errors of files and systems without support for the call, and any other error.
func diskError(err error) error {
	for _, refusal := range [...]error{
		syscall.EINVAL, syscall.ESPIPE, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EPERM, os.ErrClosed,
	} {
		if errors.Is(err, refusal) {
			return nil
		}
	}
	return os.NewSyscallError("sync_file_range", err)
}
