//go:build !unix

package main

import "os"

// isClosed says whether a standard stream is closed.
func isClosed(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := f.Stat()
	return err != nil
}
