//go:build !unix

package terminal

import "os"

// IsClosed reports whether a standard stream is closed.
func IsClosed(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := f.Stat()
	return err != nil
}
