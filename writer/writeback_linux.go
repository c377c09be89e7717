package writer

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// beginWriteback has the disk begin with a range of a file. The error is the disk's, which Sync does not
// tell again.
func beginWriteback(f *os.File, offset, n int64) error {
	return ofDisk(control(f, func(fd int) error { return unix.SyncFileRange(fd, offset, n, unix.SYNC_FILE_RANGE_WRITE) }))
}

// release waits until a range of a file is on disk, and gives back the memory that it takes. The error
// is the disk's, as above.
func release(f *os.File, offset, n int64) error {
	const onDisk = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return ofDisk(control(f, func(fd int) error {
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

// ofDisk leaves out the errors of files and systems that do not know the call. All others are the disk's:
// which they are is the file system's choice, and one that is left out is lost.
func ofDisk(err error) error {
	for _, refusal := range [...]error{
		syscall.EINVAL, syscall.ESPIPE, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EPERM, os.ErrClosed,
	} {
		if errors.Is(err, refusal) {
			return nil
		}
	}
	return os.NewSyscallError("sync_file_range", err)
}
