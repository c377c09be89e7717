package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// newFile creates a file, which must not exist, with the permissions 0666 before umask.
func newFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// ReplaceFile atomically replaces the file at path by data. It does not sync, and does not remove the temporary files of killed
// processes (see [ParseTemp]). The error is an *Error.
func ReplaceFile(path string, data []byte) error {
	file, err := newFile(TempName(path))
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

// CreateFile atomically creates the file at path with data, unless a file exists. It reports whether it has created the file. Of
// concurrent processes, only one creates the file. The error is an *Error.
func CreateFile(path string, data []byte) (created bool, err error) {
	file, err := newFile(TempName(path))
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
