package writer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile writes data to path whole or not at all, in place of an earlier file. Unlike PublishFile it does not wait
// until the data is durable, and does not look for the drafts of killed processes (see [RemoveDrafts]). The error is an *Error.
func ReplaceFile(path string, data []byte) error {
	file, err := os.OpenFile(tempName(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return failed("opening", path, err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // a leftover file does no harm
	}
	return failed("writing", path, err)
}

// RemoveDrafts removes the drafts of a file that killed processes have left. The caller is the only one who writes path.
func RemoveDrafts(path string) {
	dir, base := Split(path)
	local{}.RemoveDrafts(context.Background(), dir, func(name string) bool { return name == base })
}

// CreateFile writes data to path whole or not at all, unless a file is there. It reports whether it has created
// the file; of several processes at the same time, one does. The error is an *Error.
func CreateFile(path string, data []byte) (created bool, err error) {
	file, err := os.OpenFile(tempName(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return false, failed("opening", path, err)
	}
	defer func() { err = errors.Join(err, failed("discarding", path, os.Remove(file.Name()))) }()
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return false, failed("writing", path, err)
	}
	switch err := os.Link(file.Name(), path); { // unlike a rename, a link replaces no file
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, failed("publishing", path, err)
	}
	return true, failed("publishing", path, syncDir(filepath.Dir(path)))
}
