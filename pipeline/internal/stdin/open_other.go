//go:build !windows

package stdin

import "os"

// create creates a file for writing.
func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// open opens a file for reading.
func open(name string) (*os.File, error) { return os.Open(name) }
