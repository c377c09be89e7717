package writer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Format is a file format, named by the extension of its files, such as "csv", or "csv.gz" for compressed CSV.
type Format string

// The formats. The pages of Parquet are always compressed. A text format with the suffix ".gz" or ".zst" is compressed
// as a whole.
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"   // comma-separated, RFC 4180 quoting, LF line ends
	TSV     Format = "tsv"   // like CSV, but tab-separated and with the extension .tsv
	JSONL   Format = "jsonl" // one JSON object per line
)

// compressions are the extensions of compressed text files.
var compressions = []string{"gz", "zst"}

// formats are the formats by their names and extensions.
var formats = map[string]Format{"parquet": Parquet, "pq": Parquet, "csv": CSV, "tsv": TSV, "jsonl": JSONL, "ndjson": JSONL}

// ParseFormat returns the format with a name, in any case. "pq" and "ndjson" are other names of Parquet and JSONL. The
// error is a *FormatError.
func ParseFormat(name string) (Format, error) {
	base, compression, compressed := strings.Cut(strings.ToLower(name), ".")
	format, known := formats[base]
	switch {
	case known && !compressed:
		return format, nil
	case known && format != Parquet && slices.Contains(compressions, compression):
		return format + "." + Format(compression), nil
	}
	return "", &FormatError{Name: name}
}

// FormatOf returns the format of the extension of a path. The error is a *FormatError.
func FormatOf(path string) (Format, error) {
	name := filepath.Base(path)
	last := filepath.Ext(name)
	before := filepath.Ext(strings.TrimSuffix(name, last))
	for _, extension := range []string{last, before + last} { // .csv, or .csv.gz
		if format, err := ParseFormat(strings.TrimPrefix(extension, ".")); err == nil {
			return format, nil
		}
	}
	return "", &FormatError{Path: path}
}

// Delimited reports whether the format has lines of cells: CSV and TSV.
func (f Format) Delimited() bool {
	content, _ := f.split()
	return content == CSV || content == TSV
}

// compressedAs returns f with the compression of the extension of path, if f is a text format without compression: "csv"
// becomes "csv.gz" for "out.csv.gz".
func (f Format) compressedAs(path string) Format {
	base, compression := f.split()
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if base == Parquet || compression != "" || !slices.Contains(compressions, ext) {
		return f
	}
	return f + "." + Format(ext)
}

// split returns the format without its compression, and the compression: "", "gz" or "zst".
func (f Format) split() (content Format, compression string) {
	base, compression, _ := strings.Cut(string(f), ".")
	return Format(base), compression
}

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
