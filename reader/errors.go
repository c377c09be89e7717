package reader

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// ErrNoMatch is what an [OpenError] wraps when a glob matches no file.
var ErrNoMatch = errors.New("no file matches this pattern")

// OptionError says that a field of [Options] has a value that cannot be used.
type OptionError struct {
	Option string // the field's name
	Reason string
}

func (e *OptionError) Error() string { return "option " + e.Option + ": " + e.Reason }

// OpenError says that an input cannot be opened. It wraps [ErrNoMatch], or the
// file system's error (so errors.Is(err, fs.ErrNotExist) tells a missing file).
type OpenError struct {
	Path string // as given
	Err  error
}

func (e *OpenError) Error() string { return e.Path + ": " + withoutPath(e.Err).Error() }
func (e *OpenError) Unwrap() error { return e.Err }

// FormatError says that a file as a whole is not what its format promises: a
// malformed CSV header, a JSON array where JSONL was expected.
type FormatError struct {
	File   string
	Line   int64
	Reason string // what is wrong, and what to do about it
}

func (e *FormatError) Error() string { return place(e.File, e.Line) + ": " + e.Reason }

// ColumnError says that a file has no column of the wanted name, or several
// that differ only in case.
type ColumnError struct {
	File       string   // "" when no file has the column
	Column     string   // the name asked for; "" when there was none
	Matches    []string // the columns that Column may mean, when they differ only in case
	Columns    []string // the columns there are
	Candidates []string // the names tried, when none was asked for
	Flag       string   // the flag that takes a name: --column or --carry
}

// columnsShown bounds an error message: wide tables have thousands of columns.
const columnsShown = 30

func (e *ColumnError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(displayName(e.File) + ": ")
	}
	switch {
	case len(e.Matches) > 0:
		fmt.Fprintf(&b, "column %q may be any of %s", e.Column, strings.Join(e.Matches, ", "))
	case e.Column != "":
		fmt.Fprintf(&b, "no column %q", e.Column)
	case len(e.Candidates) > 0:
		fmt.Fprintf(&b, "which column is the input? None is called %s", strings.Join(e.Candidates, ", "))
	default:
		b.WriteString("which column is the input?")
	}
	fmt.Fprintf(&b, " (columns: %s); name one with %s NAME", listColumns(e.Columns), e.Flag)
	if e.Column == "" && len(e.Candidates) > 0 {
		b.WriteString(", or add --no-header if a CSV file's first line is data")
	}
	return b.String()
}

func listColumns(columns []string) string {
	if len(columns) == 0 {
		return "none"
	}
	shown := columns[:min(len(columns), columnsShown)]
	list := strings.Join(shown, ", ")
	if more := len(columns) - len(shown); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// ReadError is fatal: the bytes of an input could not be read on.
type ReadError struct {
	File string
	Line int64 // the line that could not be read
	Err  error
}

func (e *ReadError) Error() string {
	reason := withoutPath(e.Err).Error()
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		reason = "the data is cut short, or followed by what does not belong to it (" + reason + "); fetch the file again"
	}
	return place(e.File, e.Line) + ": " + reason
}

func (e *ReadError) Unwrap() error { return e.Err }

// ChangedError says that a file changed while it was read: what was read is not
// what the file holds, so the records may be of neither the old nor the new content.
type ChangedError struct {
	File   string
	Change string // what became of the file
}

func (e *ChangedError) Error() string {
	return displayName(e.File) + ": the file changed while it was read: it " + e.Change +
		"; start again when nothing writes to it any more"
}

// RowError says why one record is malformed. It ends nothing: the records after
// it are read.
type RowError struct {
	File   string
	Line   int64 // where the record starts
	Reason string
}

func (e *RowError) Error() string { return place(e.File, e.Line) + ": " + e.Reason }

// withoutPath drops the path that package os puts in front of its errors: ours
// name it already.
func withoutPath(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

func place(file string, line int64) string {
	return fmt.Sprintf("%s:%d", displayName(file), line)
}

func displayName(file string) string {
	if file == stdinPath {
		return "stdin"
	}
	return file
}
