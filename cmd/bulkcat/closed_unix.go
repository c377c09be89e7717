//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// isClosed says whether the shell has closed a standard stream, as >&- does. The Go runtime
// opens os.DevNull in its place, for reading and writing, and what is written is lost. A
// shell's >/dev/null opens it for writing alone.
func isClosed(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	if err != nil || nullErr != nil {
		return err != nil
	}
	mode, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && mode&unix.O_ACCMODE == unix.O_RDWR && os.SameFile(info, null)
}
