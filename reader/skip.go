package reader

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
)

// skips are the outputs of runs that are left out of globs and folders: see Options.IsOutput.
type skips struct {
	isOutput func(path string, exists func(string) bool) bool // nil for none
	paths    []string
}

var errOutputs = errors.New("has outputs of runs only: name the output itself to read it")

// skip reports whether a file or a folder is left out.
func (s *skips) skip(path string, exists func(string) bool) bool {
	if s.isOutput == nil || !s.isOutput(path, exists) {
		return false
	}
	isBeside := len(s.paths) > 0 && strings.HasPrefix(path, s.paths[len(s.paths)-1]+".") // such as the account of an output
	if !isBeside && !slices.Contains(s.paths, path) {
		s.paths = append(s.paths, path)
	}
	return true
}

// below reports whether a match of a pattern, or a folder of the match that the pattern does not name, is left out. A pattern
// that ends with a slash is the name of a folder.
func (s *skips) below(pattern, match string, exists func(string) bool) bool {
	named := len(pattern)
	if at := strings.IndexAny(pattern, `*?[`); at >= 0 {
		named = strings.LastIndexAny(pattern[:at], `/\`) + 1
	}
	for i := named; i < len(match); i++ {
		if (match[i] == '/' || os.IsPathSeparator(match[i])) && s.skip(match[:i], exists) {
			return true
		}
	}
	return s.skip(match, exists)
}

// objects returns the objects of a pattern or a folder that are not left out. listed are all objects there, in lexical order.
func (s *skips) objects(url string, objects, listed []string) (kept []string, err error) {
	exists := func(object string) bool {
		_, found := slices.BinarySearch(listed, object)
		return found
	}
	for _, object := range objects {
		if !s.below(url, object, exists) {
			kept = append(kept, object)
		}
	}
	if len(kept) == 0 && len(objects) > 0 {
		return nil, &OpenError{url, errOutputs}
	}
	return kept, nil
}

// warn logs the outputs that are left out.
func (s *skips) warn(log *slog.Logger) {
	if n := len(s.paths); n > 0 {
		log.Warn("outputs of runs are left out of the input: name an output itself to read it", "left_out", n, "outputs", strings.Join(s.paths[:min(n, 5)], ", "))
	}
}
