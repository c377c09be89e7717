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

// keep returns the names that are not left out, and whose folders are not: those below the first named bytes of a name, which
// path gives. The error is an *OpenError if no name is left.
func (s *skips) keep(path string, named int, names []string, exists func(string) bool) (kept []string, err error) {
	isLeftOut := func(name string) bool {
		for i := named; i < len(name); i++ {
			if (name[i] == '/' || os.IsPathSeparator(name[i])) && s.skip(name[:i], exists) {
				return true
			}
		}
		return s.skip(name, exists)
	}
	kept = slices.DeleteFunc(slices.Clone(names), isLeftOut)
	if len(kept) == 0 && len(names) > 0 {
		return nil, &OpenError{path, errOutputs}
	}
	return kept, nil
}

// keepMatches is keep for the matches of a pattern, which names the folders before its first wildcard. err is the error of the
// pattern. The error is also an *OpenError if there are no matches.
func (s *skips) keepMatches(pattern string, matches []string, err error, exists func(string) bool) ([]string, error) {
	if err == nil && len(matches) == 0 {
		err = ErrNoMatch
	}
	if err != nil {
		return nil, &OpenError{pattern, err}
	}
	named := strings.LastIndexAny(pattern[:strings.IndexAny(pattern, wildcards)], `/\`) + 1
	return s.keep(pattern, named, matches, exists)
}

// warn logs the outputs that are left out.
func (s *skips) warn(log *slog.Logger) {
	if n := len(s.paths); n > 0 {
		log.Warn("outputs of runs are left out of the input: name an output itself to read it", "left_out", n, "outputs", strings.Join(s.paths[:min(n, 5)], ", "))
	}
}
