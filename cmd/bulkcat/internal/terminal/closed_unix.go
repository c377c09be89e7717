//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsClosed reports whether the shell has closed a standard stream, as >&- does. In place of the stream, the Go runtime then opens
// os.DevNull for reading and writing, which discards all output. A shell's >/dev/null opens os.DevNull only for writing.
func IsClosed(stream any) bool {
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

// AwaitBrokenPipe waits until the reader of a pipe closes it, and returns true. For other streams it returns false at once.
func AwaitBrokenPipe(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return false
	}
	for {
		pipe := []unix.PollFd{{Fd: int32(f.Fd())}} // without events, poll waits for an error
		if _, err := unix.Poll(pipe, -1); err != unix.EINTR {
			return err == nil
		}
	}
}
