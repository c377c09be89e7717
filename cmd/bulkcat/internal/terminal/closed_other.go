//go:build !unix

package terminal

import "os"

// AwaitBrokenPipe returns false at once: without poll, only the next write shows that a pipe is broken.
func AwaitBrokenPipe(any) bool { return false }

// IsClosed reports whether a standard stream is closed.
func IsClosed(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := f.Stat()
	return err != nil
}
