package writer

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginWriteback has the disk begin with a range of a file. It is only a hint, which some files do not
// take: Sync makes sure, and tells what went wrong.
func beginWriteback(f *os.File, offset, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), offset, n, unix.SYNC_FILE_RANGE_WRITE) })
}
