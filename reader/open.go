package reader

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Source is an open input: a file, or an object in an object store. Stat describes the version that is read.
type Source interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// Storage opens inputs whose paths are URLs, such as s3://bucket/key.
type Storage interface {
	// Open opens an object. The context also ends reading, with ErrInterrupted. The error for a missing object wraps
	// fs.ErrNotExist.
	Open(ctx context.Context, url string) (Source, error)
	// List returns the URLs that begin with prefix, in lexical order.
	List(ctx context.Context, prefix string) ([]string, error)
}

// errNoStorage is the error of a URL without Options.Storage.
var errNoStorage = errors.New("URLs of objects cannot be read here")

// isURL reports whether a path is the URL of an object.
func isURL(path string) bool { return strings.Contains(path, "://") }

// wildcards are the characters that make a path a glob.
const wildcards = `*?[`

// stdinPath is the path of standard input.
const stdinPath = "-"

var errFolder = errors.New("is a folder")

// openSource opens a file or an object. size is in bytes as stored, or -1 for a pipe or a device, which can be read only once.
func (o *Options) openSource(ctx context.Context, path string) (body Source, size int64, err error) {
	if isURL(path) {
		body, err = o.Storage.Open(ctx, path)
	} else {
		body, err = os.Open(path)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := body.Stat()
	if err == nil && info.IsDir() {
		err = errFolder
	}
	switch {
	case err != nil:
		return nil, 0, errors.Join(err, body.Close())
	case !info.Mode().IsRegular():
		return body, -1, nil
	}
	return body, info.Size(), nil
}

// Expand returns the files of a path, sorted by name: the matches of a glob, the parts of a folder, or else the path itself.
// isOutput is as Options.IsOutput. The error is an *OpenError, also for a URL, or an *UnsupportedError for a folder that is not a
// list of parts.
func Expand(path string, isOutput func(path string, exists func(string) bool) bool) ([]string, error) {
	return new(Options).filesOf(context.Background(), path, &skips{isOutput: isOutput})
}

// expand replaces each glob among paths by the files that it matches, and each folder by its parts.
func (o *Options) expand(ctx context.Context) ([]string, error) {
	var names []string
	skips := &skips{isOutput: o.IsOutput}
	for _, path := range o.Paths {
		files, err := o.filesOf(ctx, path, skips)
		if err != nil {
			return nil, err
		}
		names = append(names, files...)
	}
	skips.warn(o.Log)
	return names, nil
}

// filesOf is expand for one path.
func (o *Options) filesOf(ctx context.Context, path string, skips *skips) (names []string, err error) {
	switch {
	case path == stdinPath:
		return []string{path}, nil
	case isURL(path):
		return o.expandURL(ctx, path, skips)
	case !strings.ContainsAny(path, wildcards) || exists(path):
		return partsOf(path, skips)
	}
	matches, err := filepath.Glob(path)
	slices.Sort(matches)
	if matches, err = skips.keepMatches(path, matches, err, exists); err != nil {
		return nil, err
	}
	for _, match := range matches {
		if err := checkRegular(match); err != nil {
			return nil, err
		}
		parts, err := partsOf(match, skips)
		if err != nil {
			return nil, err
		}
		names = append(names, parts...)
	}
	return names, nil
}

// partsOf returns the files in a folder and its subfolders, in lexical order; folder itself if it is a file.
func partsOf(folder string, skips *skips) ([]string, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return []string{folder}, nil
	}
	var names []string
	root := folder + string(filepath.Separator) // of a link, the folder that it leads to
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &OpenError{filepath.Clean(path), err}
		case path != root && isHidden(entry.Name()):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case !entry.IsDir():
			names = append(names, path)
			return checkRegular(path)
		}
		return nil
	})
	if err == nil {
		names, err = skips.keep(folder, len(filepath.Join(folder, "x"))-1, names, exists)
	}
	if err != nil {
		return nil, err
	}
	return names, checkParts(folder, names)
}

// checkRegular returns an *OpenError for a pipe or a device. Opening a pipe may block for ever, so the user must name it itself.
// A missing file is an error of open, not of checkRegular.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &OpenError{path, errSpecial}
	}
	return nil
}

var errSpecial = errors.New("is a pipe or a device, which is read only if it is named itself")

// isHidden reports whether a file in a folder is not a part: its name begins with _ or a dot, as in Spark and DuckDB.
func isHidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

// checkParts returns an *UnsupportedError unless all parts of a folder have an extension of the same format, or no part has an
// extension: then the content decides.
func checkParts(folder string, parts []string) error {
	for _, part := range parts {
		switch {
		case formatByName(part) == nil && (extension(part) != "" || formatByName(parts[0]) != nil):
			return &UnsupportedError{folder, "a folder with files other than lists (" + filepath.Base(part) + ")", "name the files, such as DIR/*.csv"}
		case formatByName(part) != formatByName(parts[0]):
			return severalFormats(folder)
		}
	}
	if len(parts) == 0 {
		return &UnsupportedError{folder, "a folder without parts", "name a folder of files whose names begin with neither _ nor ."}
	}
	return nil
}

func severalFormats(folder string) error {
	return &UnsupportedError{folder, "a folder of files in several formats", "name the files, such as DIR/*.csv"}
}

// expandURL is expand for the URL of an object, of a folder of objects, or of a pattern.
func (o *Options) expandURL(ctx context.Context, url string, skips *skips) ([]string, error) {
	if o.Storage == nil {
		return nil, &OpenError{url, errNoStorage}
	}
	if at := strings.IndexAny(url, wildcards); at >= 0 {
		found, err := o.Storage.List(ctx, url[:at])
		if err != nil {
			return nil, &OpenError{url, err}
		}
		if slices.Contains(found, url) {
			return []string{url}, nil
		}
		matches := slices.DeleteFunc(slices.Clone(found), func(object string) bool {
			matches, _ := path.Match(url, object)
			return !matches
		})
		_, err = path.Match(url, "")
		return skips.keepMatches(url, matches, err, among(found))
	}
	if !strings.HasSuffix(url, "/") {
		body, err := o.Storage.Open(ctx, url)
		if err == nil {
			return []string{url}, body.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, &OpenError{url, err}
		}
	}
	folder := strings.TrimRight(url, "/") + "/"
	found, err := o.Storage.List(ctx, folder)
	if err == nil && len(found) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &OpenError{url, err}
	}
	parts := slices.DeleteFunc(slices.Clone(found), func(object string) bool {
		return slices.ContainsFunc(strings.Split(strings.TrimPrefix(object, folder), "/"), isHidden)
	})
	if parts, err = skips.keep(folder, len(folder), parts, among(found)); err != nil {
		return nil, err
	}
	return parts, checkParts(url, parts)
}

// among reports whether an object is one of sorted URLs.
func among(urls []string) func(url string) bool {
	return func(url string) bool {
		_, found := slices.BinarySearch(urls, url)
		return found
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
