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
	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// outputFile is a file that a command writes.
type outputFile struct {
	flag      string            // that names the file
	path      string            // "" for no file, "-" for standard output
	extension string            // of the format of the file; "" for several formats
	isOwn     func([]byte) bool // reports whether a content may be replaced without --overwrite; nil for none
	overwrite bool
}

// options returns the option that names the file, and --overwrite.
func (f *outputFile) options(help string) []option {
	short := ""
	if f.flag == "--output" {
		short = "o"
	}
	return []option{
		{name: strings.TrimPrefix(f.flag, "--"), short: short, to: &f.path, or: f.path, help: help},
		{name: "overwrite", to: &f.overwrite, help: "replace a file that exists"},
	}
}

// check returns a usage error if the command must not write the file: the command reads it, its extension is that of another
// format, its folder is missing or cannot be written, or it is a store, a pipe, a device, a folder, or a file that must not be
// replaced.
func (f *outputFile) check(read ...string) error {
	if f.path == "" || f.path == "-" {
		return nil
	}
	if err := f.refuse(read); err != nil {
		return &usageError{fmt.Errorf("%s: %s %w", f.flag, f.path, err)}
	}
	return nil
}

// refuse says why the file must not be written, without its name.
func (f *outputFile) refuse(read []string) error {
	for _, other := range read {
		if other != "" && places.IsSame(f.path, other) {
			return errors.New("is read, and cannot be written: name another file")
		}
	}
	if answers.IsStore(f.path) {
		return errors.New("is a store: choose another name")
	}
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return errors.New("is no regular file: choose another name, or - for standard output")
	}
	if err := writable(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("cannot be written: %w", err)
	}
	if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) && !f.overwrite && !f.isEarlier() {
		return errors.New("exists, and is no earlier result that the command may replace: use --overwrite to replace it, or choose another name")
	}
	extension := strings.ToLower(filepath.Ext(f.path))
	_, err := writer.FormatOf(f.path)
	if isKnown := err == nil || slices.Contains(otherFormats, extension); f.extension != "" && isKnown && extension != f.extension {
		return fmt.Errorf("would be written as %s: give the file the extension %s", strings.ToUpper(f.extension[1:]), f.extension)
	}
	return nil
}

// isEarlier reports whether the file is an earlier result of the command.
func (f *outputFile) isEarlier() bool {
	if f.isOwn == nil {
		return false
	}
	text, err := regular.Read(f.path, mostReplaced)
	return err == nil && f.isOwn(text)
}

// publish writes the file, or standard output. It checks the file again: another program may have written it since check.
func (f *outputFile) publish(stdout io.Writer, write func(io.Writer) error) error {
	if f.path == "-" {
		return write(stdout)
	}
	if err := f.check(); err != nil {
		return err
	}
	return disk.PublishFrom(f.path, write)
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
