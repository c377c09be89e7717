package writer

import (
	"path/filepath"
	"slices"
	"strings"
)

// Format is a file format, named by the extension of its files: "csv", or "csv.gz" for compressed CSV.
type Format string

// The formats. Parquet is always compressed inside; the text formats may be compressed as a whole,
// by adding ".gz" or ".zst".
const (
	Parquet Format = "parquet"
	CSV     Format = "csv"   // comma-separated, RFC 4180 quoting, LF line ends
	TSV     Format = "tsv"   // the same with tabs
	JSONL   Format = "jsonl" // one JSON object a line
)

// compressions are the extensions that compressed text files have.
var compressions = []string{"gz", "zst"}

// ParseFormat tells a format by its name in any case; "pq" and "ndjson" are other names of Parquet and
// JSONL. The error is a *FormatError.
func ParseFormat(name string) (Format, error) {
	base, compression, compressed := strings.Cut(strings.ToLower(name), ".")
	format := Format(base)
	switch base {
	case "pq":
		format = Parquet
	case "ndjson":
		format = JSONL
	case "parquet", "csv", "tsv", "jsonl":
	default:
		return "", &FormatError{Name: name}
	}
	switch {
	case !compressed:
		return format, nil
	case format == Parquet || !slices.Contains(compressions, compression):
		return "", &FormatError{Name: name}
	default:
		return format + "." + Format(compression), nil
	}
}

// FormatOf tells a format by the extension of a path. The error is a *FormatError.
func FormatOf(path string) (Format, error) {
	name := strings.ToLower(filepath.Base(path))
	compression := filepath.Ext(name)
	if slices.Contains(compressions, strings.TrimPrefix(compression, ".")) {
		name = strings.TrimSuffix(name, compression)
	} else {
		compression = ""
	}
	format, err := ParseFormat(strings.TrimPrefix(filepath.Ext(name), ".") + compression)
	if err != nil {
		return "", &FormatError{Path: path}
	}
	return format, nil
}

// compressedAs is f, compressed if it can be and if the extension of path says so. It keeps
// "--output-format csv" from writing plain text into "out.csv.gz".
func (f Format) compressedAs(path string) Format {
	base, compression := f.split()
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if base == Parquet || compression != "" || !slices.Contains(compressions, ext) {
		return f
	}
	return f + "." + Format(ext)
}

// split gives the format of the content, and its compression: "", "gz" or "zst".
func (f Format) split() (content Format, compression string) {
	base, compression, _ := strings.Cut(string(f), ".")
	return Format(base), compression
}
