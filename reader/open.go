package reader

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stdinPath is the path of standard input.
const stdinPath = "-"

var errDirectory = errors.New("is a directory; name its files, such as DIR/*.csv")

// open opens an input. The size is in bytes as stored, or -1 for a pipe or a device, which can be read only
// once.
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
		f.Close() // nothing was written: only the first error matters
		return nil, 0, err
	case !info.Mode().IsRegular():
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// Expand returns the files that a glob matches, sorted by name, or else the path itself. The error is an *OpenError.
func Expand(path string) ([]string, error) { return expand([]string{path}) }

// expand replaces each glob among paths by the files that it matches.
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
