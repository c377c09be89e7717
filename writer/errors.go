package writer

import (
	"errors"
	"fmt"
)

// ErrClosed is the error of a sink that is used after Close or Abort.
var ErrClosed = errors.New("the output is closed already")

// FormatError says that an output format is unknown. Its text lists the formats.
type FormatError struct {
	Path string // output with an unknown extension; "-" for standard output; "" if Name is set
	Name string // unknown name of a format; "" if Path is set
}

func (e *FormatError) Error() string {
	const formats = "parquet, csv, tsv or jsonl (the text formats also with .gz or .zst, as in csv.gz)"
	switch e.Path {
	case "":
		return fmt.Sprintf("unknown output format %q: choose %s", e.Name, formats)
	case "-":
		return fmt.Sprintf("standard output has no extension to tell the format from: choose %s", formats)
	default:
		return fmt.Sprintf("cannot tell the output format of %s from its extension: choose %s", e.Path, formats)
	}
}

// OptionName returns "writer.Format". Programs map it to the name of their own option.
func (e *FormatError) OptionName() string { return "writer.Format" }
