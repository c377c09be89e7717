package reader

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

var errDirectory = errors.New("is a directory; name its files, such as DIR/*.csv")

// open is the one place where inputs are opened. The size is in bytes as
// stored, or -1 for what has none and can be read only once: a pipe or a device.
func open(path string) (body io.ReadCloser, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errDirectory
	}
	switch {
	case err != nil:
		f.Close() // nothing was read: the first error is the one to tell
		return nil, 0, err
	case !info.Mode().IsRegular():
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// Expand gives the files that a path or glob stands for. The error is an *OpenError.
func Expand(path string) ([]string, error) { return expand([]string{path}) }

// expand replaces the globs among paths by the files they match.
func expand(paths []string) ([]string, error) {
	var names []string
	for _, path := range paths {
		if path == stdinPath || !strings.ContainsAny(path, `*?[`) || exists(path) {
			names = append(names, path)
			continue
		}
		matches, err := filepath.Glob(path)
		if err == nil && len(matches) == 0 {
			err = ErrNoMatch
		}
		if err != nil {
			return nil, &OpenError{path, err}
		}
		slices.Sort(matches)
		names = append(names, matches...)
	}
	return names, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
