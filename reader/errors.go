package reader

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// ErrNoMatch is the cause of an [OpenError] for a glob that matches no file.
var ErrNoMatch = errors.New("no file matches this pattern")

// ErrInterrupted is the error of a Read that has been interrupted while it waited.
var ErrInterrupted = errors.New("reading was interrupted")

// OptionError says that a field of [Options] has an invalid value.
type OptionError struct {
	Option string // name of the field
	Reason string
}

func (e *OptionError) Error() string { return "option " + e.Option + ": " + e.Reason }

// If another value of an option may prevent an error, the error has a method OptionName. The method returns the package and the
// field of its options, such as "reader.Columns"; "" if no option helps. Programs map it to the name of their own option.

// OptionName returns the option that has the invalid value.
func (e *OptionError) OptionName() string { return optionName(e.Option) }

func optionName(field string) string {
	if field == "" {
		return ""
	}
	return "reader." + field
}

// OpenError says that an input cannot be opened. It wraps [ErrNoMatch], or the file system's error, such as
// fs.ErrNotExist.
type OpenError struct {
	Path string // as given
	Err  error
}

func (e *OpenError) Error() string { return e.Path + ": " + withoutPath(e.Err).Error() }
func (e *OpenError) Unwrap() error { return e.Err }

// FormatError says that a whole file violates its format, for example by a malformed CSV header.
type FormatError struct {
	File   string
	Line   int64  // 1-based
	Reason string // the problem, and what to do about it
	Option string // the field of Options that may help; "" for none
}

func (e *FormatError) Error() string { return place(e.File, e.Line) + ": " + e.Reason }

// OptionName returns the option that may help, such as "reader.Encoding"; "" for none.
func (e *FormatError) OptionName() string { return optionName(e.Option) }

// changedSince returns the error of a file whose header, or other content that Open has used, has changed since Open.
func changedSince(f *file, line int64, what string) error {
	return &FormatError{f.info.Name, line, what + " has changed since the run began; start again", ""}
}

// ColumnError says that a file has no column with a name, or several columns that match the name.
type ColumnError struct {
	File       string   // "" if no file has the column
	Column     string   // the wanted name; "" if Candidates were tried
	Matches    []string // columns that match Column, if there are several and none is equal
	Columns    []string // all columns of the file
	Candidates []string // names that were tried if Column is ""
	Refused    []string // columns with these names whose values are not inputs, with the reasons
	Sheets     []string // of the Excel file, if Options.Sheet names none and there are several
	Header     bool     // Columns are the fields of a row, which may be the wrong row
	Continues  string   // the first file, if File has as many columns but none of the same names: File may have no header
	Option     string   // the field of Options that names a column: Columns or ExtraColumns
}

// columnsShown is the most columns in an error message: wide tables have thousands.
const columnsShown = 30

func (e *ColumnError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(displayName(e.File) + ": ")
	}
	switch {
	case len(e.Matches) > 0:
		fmt.Fprintf(&b, "column %q may be any of %s", e.Column, strings.Join(e.Matches, ", "))
	case e.Column != "" || e.Option == "ExtraColumns":
		fmt.Fprintf(&b, "no column %q", e.Column)
	case len(e.Candidates) > 0:
		none := "None"
		if len(e.Refused) > 0 {
			none = strings.Join(e.Refused, ", ") + "; no other"
		}
		fmt.Fprintf(&b, "which column is the input? %s is called %s", none, strings.Join(e.Candidates, ", "))
	default:
		b.WriteString("which column is the input?")
	}
	if len(e.Columns) == 0 && e.Column != "" {
		b.WriteString(": the input has no columns")
		return b.String()
	}
	fmt.Fprintf(&b, " (columns: %s)", listColumns(e.Columns))
	if len(e.Sheets) > 1 {
		fmt.Fprintf(&b, "; the first sheet of %s is read", listColumns(e.Sheets))
	}
	if e.Continues != "" {
		fmt.Fprintf(&b, "; none of them is a column of %s: if this file continues that one without a header, make one file of them, or pipe them with cat", displayName(e.Continues))
	}
	return b.String()
}

// OptionName returns "reader.Columns" or "reader.ExtraColumns".
func (e *ColumnError) OptionName() string { return optionName(e.Option) }

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

// ReadError says that reading an input has failed. Every later Read returns the same error.
type ReadError struct {
	File string
	Line int64 // 1-based line that could not be read
	Err  error
}

func (e *ReadError) Error() string {
	reason := withoutPath(e.Err).Error()
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		reason = "the data is cut short, or followed by data that does not belong to it (" + reason + "); fetch the file again"
	}
	return place(e.File, e.Line) + ": " + reason
}

func (e *ReadError) Unwrap() error { return e.Err }

// ChangedError says that a file changed while it was read. The records may be a mixture of the old and the new content.
type ChangedError struct {
	File   string
	Change string // the change, as a predicate such as "was written over"
}

func (e *ChangedError) Error() string {
	return displayName(e.File) + ": the file changed while it was read: it " + e.Change +
		"; start again when no process writes to it any more"
}

// RowError says why a record is malformed. The Reader continues with the next record.
type RowError struct {
	File   string
	Line   int64 // 1-based line on which the record starts
	Reason string
}

func (e *RowError) Error() string { return place(e.File, e.Line) + ": " + e.Reason }

// OptionName returns the option that may help, such as "reader.Encoding"; "" for none.
func (e *RowError) OptionName() string { return optionName(optionFor(e.Reason)) }

// The reasons why rows are malformed.
const (
	faultLongLine   = "the line is longer than " + oneMiB
	faultLongRecord = "a quote opened on this line is not closed within " + oneMiB
	oneMiB          = "1 MiB" // Options.MaxRecord
	faultUnclosed   = "a quote opened on this line is never closed"
	faultBareQuote  = `a quote (") inside an unquoted field`
	faultAfterQuote = `text after a closing quote (")`
	faultEncoding   = "invalid UTF-8" + otherEncoding
	otherEncoding   = "; if the file is in another encoding, name it"
	faultNoColumn   = " is an object, but the input column is not known; name it"
)

// optionFor returns the field of Options that may prevent a fault; "" if there is none.
func optionFor(fault string) string {
	switch {
	case strings.HasSuffix(fault, otherEncoding):
		return "Encoding"
	case strings.HasSuffix(fault, faultNoColumn):
		return "Columns"
	}
	return ""
}

// withoutPath removes the path from an error of package os. The errors of this package already name the path.
func withoutPath(err error) error {
	if pathError, is := errors.AsType[*fs.PathError](err); is {
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
