package reader

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stdinPath is the path of standard input.
const stdinPath = "-"

// errFolder is the error of open for a folder, which expand replaces by its parts.
var errFolder = errors.New("is a folder")

// open opens an input. The size is in bytes as stored, or -1 for a pipe or a device, which can be read only
// once.
func open(path string) (body *os.File, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errFolder
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

// Expand returns the files of a path, sorted by name: those that a glob matches and the parts of a folder, or else the
// path itself. The error is an *OpenError, or an *UnsupportedError for a folder without parts.
func Expand(path string) ([]string, error) { return expand([]string{path}) }

// expand replaces each glob among paths by the files that it matches, and each folder by its parts.
func expand(paths []string) ([]string, error) {
	var names []string
	for _, path := range paths {
		matches := []string{path}
		if path != stdinPath && strings.ContainsAny(path, `*?[`) && !exists(path) {
			var err error
			matches, err = filepath.Glob(path)
			if err == nil && len(matches) == 0 {
				err = ErrNoMatch
			}
			if err != nil {
				return nil, &OpenError{path, err}
			}
			slices.Sort(matches)
		}
		for _, match := range matches {
			if match == stdinPath || !isFolder(match) {
				names = append(names, match)
				continue
			}
			parts, err := partsOf(match)
			if err != nil {
				return nil, err
			}
			names = append(names, parts...)
		}
	}
	return names, nil
}

// partsOf returns the files in a folder and in the folders below, in lexical order. As in Spark and DuckDB, names that
// begin with _ or . are not parts. All parts have the extension of one format.
func partsOf(folder string) ([]string, error) {
	var parts []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		hidden := path != folder && strings.ContainsAny(entry.Name()[:1], "_.")
		switch {
		case err != nil:
			return &OpenError{path, err}
		case entry.IsDir() && hidden:
			return filepath.SkipDir
		case entry.IsDir() || hidden:
			return nil
		case formatByName(path) == "":
			return &UnsupportedError{folder, "a folder with files other than lists (" + entry.Name() + ")", "name the files, such as DIR/*.csv"}
		case len(parts) > 0 && formatByName(path) != formatByName(parts[0]):
			return &UnsupportedError{folder, "a folder of files in several formats", "name the files, such as DIR/*.csv"}
		}
		parts = append(parts, path)
		return nil
	})
	if err == nil && len(parts) == 0 {
		err = &UnsupportedError{folder, "a folder without parts", "name a folder of files whose names begin with neither _ nor ."}
	}
	return parts, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
