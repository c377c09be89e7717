package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/writer/regular"
)

// replaceFlag says whether a command may replace a file that it has not written.
type replaceFlag struct{ overwrite bool }

func (f *replaceFlag) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace a file that exists")
}

// check returns a usage error if path has a file that must not be replaced: one for which isOwn, which gets the content, is
// false. isOwn may be nil: then no file is replaced. The path may be "" or "-" for none.
func (f *replaceFlag) check(flag, path string, isOwn func([]byte) bool) error {
	if path == "" || path == "-" || f.overwrite {
		return nil
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // creating the file gives other errors
	}
	if isOwn != nil {
		if text, err := regular.Read(path, mostReplaced); err == nil && isOwn(text) {
			return nil
		}
	}
	return existsError(flag, path)
}

// mostReplaced are the most bytes of a file that is read to find out what it is.
const mostReplaced = 64 << 20

func existsError(flag, path string) error {
	return &usageError{fmt.Errorf("%s: %s exists, and is no earlier result that the command may replace: use --overwrite to replace it, or choose another name", flag, path)}
}
