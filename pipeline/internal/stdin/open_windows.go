package stdin

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// create creates a file for writing.
func create(name string) (*os.File, error) {
	return openShared(name, windows.GENERIC_WRITE, windows.CREATE_NEW)
}

// open opens a file for reading.
func open(name string) (*os.File, error) {
	return openShared(name, windows.GENERIC_READ, windows.OPEN_EXISTING)
}

// openShared opens a file that can be renamed while it is open. Windows renames no file that package os has opened.
func openShared(name string, access, how uint32) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	const all = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, access, all, nil, how, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
