package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// replaceFlag says whether a command may replace a file that it has not written.
type replaceFlag struct{ overwrite bool }

func (f *replaceFlag) options() []option {
	return []option{
		{name: "overwrite", to: &f.overwrite, help: "replace a file that exists"},
	}
}

// check returns a usage error if the command must not write path: its folder is missing or cannot be written, or path is a
// store, a pipe, a device, a folder, or a file that must not be replaced. Without --overwrite, only a file for whose content
// isOwn returns true may be replaced; no file if isOwn is nil. The path may be "" or "-" for no file.
func (f *replaceFlag) check(flag, path string, isOwn func([]byte) bool) error {
	if path == "" || path == "-" {
		return nil
	}
	if answers.IsStore(path) {
		return &usageError{fmt.Errorf("%s: %s is a store: choose another name", flag, path)}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &usageError{fmt.Errorf("%s: %s is no regular file: choose another name, or - for standard output", flag, path)}
	}
	if err := writable(filepath.Dir(path)); err != nil {
		return &usageError{fmt.Errorf("%s: %s cannot be written: %w", flag, path, err)}
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || f.overwrite {
		return nil
	}
	if isOwn != nil {
		if text, err := regular.Read(path, mostReplaced); err == nil && isOwn(text) {
			return nil
		}
	}
	return &usageError{fmt.Errorf("%s: %s exists, and is no earlier result that the command may replace: use --overwrite to replace it, or choose another name", flag, path)}
}

// publish writes a file, or standard output for "-". It checks the file again: another program may have written it since check.
func (f *replaceFlag) publish(s streams, flag, path string, isOwn func([]byte) bool, write func(io.Writer) error) error {
	if path == "-" {
		return write(s.out)
	}
	if err := f.check(flag, path, isOwn); err != nil {
		return err
	}
	return disk.PublishFrom(path, write)
}

// writable returns an error unless files can be made in a folder.
func writable(folder string) error {
	file, err := os.CreateTemp(folder, ".bulkcat-")
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("its folder: %w", path.Err) // without the name of the temporary file
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// mostReplaced is the maximum size of a file, in bytes, whose content is passed to isOwn.
const mostReplaced = 64 << 20

// otherFormats are the extensions of files that commands write, except outputs.
var otherFormats = []string{".json", ".html", ".htm", ".md", ".xlsx", ".model"}

// checkExtension returns a usage error if the extension of path is that of another format than extension. It accepts "-" and
// unknown extensions.
func checkExtension(flag, path, extension string) error {
	ext := strings.ToLower(filepath.Ext(path))
	_, err := writer.FormatOf(path)
	if ext == extension || err != nil && !slices.Contains(otherFormats, ext) {
		return nil
	}
	return &usageError{fmt.Errorf("%s: %s would be written as %s: give the file the extension %s", flag, path, strings.ToUpper(extension[1:]), extension)}
}
