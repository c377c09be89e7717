package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/bulkcat/bulkcat/client/statefolder"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Local returns the path of an output whose local files, which cannot be objects, lie beside it. For the URL of an object it is a
// path below $XDG_STATE_HOME/bulkcat, which is the same in every run on the machine. For other paths it is the path itself.
func Local(path string) string {
	if !IsURL(path) {
		return filepath.Clean(path)
	}
	folder, _ := statefolder.Path() // TryLock returns the error
	scheme, rest, _ := strings.Cut(strings.TrimRight(path, "/"), "://")
	names := []string{folder, scheme}
	for _, name := range strings.Split(rest, "/") {
		if strings.Trim(name, ".") == "" { // neither "." nor ".." nor ""
			name = "%" + name
		}
		names = append(names, url.PathEscape(name))
	}
	return filepath.Join(names...)
}

// TryLock is disk.TryLock for the path of Local, whose folder it creates for a URL. The error of an object names the object.
func TryLock(path string) (*disk.Lock, error) {
	if IsURL(path) {
		if _, err := statefolder.Path(); err != nil {
			return nil, fmt.Errorf("no folder for the lock, the journal and the answers of an output in object storage: set XDG_STATE_HOME (%w)", errors.Unwrap(err))
		}
		if err := os.MkdirAll(filepath.Dir(Local(path)), 0o777); err != nil {
			return nil, err
		}
	}
	lock, err := disk.TryLock(Local(path))
	if busy, ok := errors.AsType[*disk.BusyError](err); ok && IsURL(path) {
		busy.Path = path
	}
	return lock, err
}

// MakeFolder creates a folder, unless it exists. For a URL it creates the folder at Local, because a folder of objects exists as
// soon as it has an object.
func MakeFolder(path string) error {
	if IsURL(path) {
		return os.MkdirAll(Local(path), 0o777)
	}
	if err := os.Mkdir(path, 0o777); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Resolved returns the absolute path of a file, with the symbolic links of its folder resolved if the folder exists.
func Resolved(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
}
