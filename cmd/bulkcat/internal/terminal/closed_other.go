//go:build !unix

package terminal

import "os"

// AwaitUnread returns false: only systems with poll say that nobody reads a pipe any longer.
func AwaitUnread(any) bool { return false }

// IsClosed reports whether a standard stream is closed.
func IsClosed(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := f.Stat()
	return err != nil
}
