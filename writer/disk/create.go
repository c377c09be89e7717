package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile writes data to path whole or not at all, in place of an earlier file. It does not wait until the data is
// durable, and does not look for the temporary files of killed processes (see [ParseTemp]). The error is an *Error.
func ReplaceFile(path string, data []byte) error {
	file, err := NewFile(TempName(path))
	if err != nil {
		return Failed("opening", path, err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // a leftover file does no harm
	}
	return Failed("writing", path, err)
}

// CreateFile writes data to path whole or not at all, unless a file is there. It reports whether it has created
// the file; of several processes at the same time, one does. The error is an *Error.
func CreateFile(path string, data []byte) (created bool, err error) {
	file, err := NewFile(TempName(path))
	if err != nil {
		return false, Failed("opening", path, err)
	}
	defer func() { err = errors.Join(err, Failed("discarding", path, os.Remove(file.Name()))) }()
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return false, Failed("writing", path, err)
	}
	switch err := os.Link(file.Name(), path); { // unlike a rename, a link replaces no file
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, Failed("publishing", path, err)
	}
	return true, Failed("publishing", path, SyncDir(filepath.Dir(path)))
}
