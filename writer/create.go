package writer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// CreateFile writes data to path whole or not at all, unless a file is there. It reports whether it has created
// the file; of several processes at the same time, one does. The error is an *Error.
func CreateFile(path string, data []byte) (created bool, err error) {
	d, err := newDraft(osFS{}, path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.discard()) }()
	if _, err := d.Write(data); err != nil {
		return false, err
	}
	if err := d.finish(); err != nil {
		return false, err
	}
	switch err := os.Link(d.temp, path); { // unlike a rename, a link replaces no file
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, failed("publishing", path, err)
	}
	return true, failed("publishing", path, osFS{}.SyncDir(filepath.Dir(path)))
}
