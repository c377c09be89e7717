package reader

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"
)

// The formats of an input.
const (
	formatCSV   = "csv"
	formatJSONL = "jsonl"
	formatTXT   = "txt"
)

// Options say what to read and how. Paths is required; the zero value of every
// other field means "find out".
type Options struct {
	// Paths are files, globs, or "-" (once) for Stdin, read in this order. A
	// path that exists is that file, whatever glob characters it holds; the
	// files of a glob are sorted by name.
	Paths []string
	Stdin io.Reader

	// Format is csv, jsonl or txt. By default the extension tells (.csv, .tsv,
	// .jsonl, .ndjson, .json, .txt, with .gz or .zst behind it), else the content.
	Format string

	// Column is the input column. It matches exactly, or in any case when only
	// one column does. In JSONL it is a key, or a dotted path into objects.
	// Bare strings and txt lines are inputs themselves and need no column.
	Column string
	// Candidates are tried in this order, in any case, when Column is empty.
	Candidates []string
	// ExtraColumns are columns even if the beginning of a JSONL file does not
	// show them: keys or dotted paths. Without a JSONL file among the inputs,
	// they must be columns of some file.
	ExtraColumns []string

	// Delimiter separates the fields of CSV. By default a tab for .tsv, else the
	// one among , ; tab and | that splits the first rows most evenly.
	Delimiter rune
	// StrictCSV takes CSV by RFC 4180 to the letter: a quote in an unquoted field, text
	// behind a closing quote, and a row with more or fewer fields than the header are
	// faults; a first line sep=; is data; and no encoding is guessed.
	StrictCSV bool
	// NoHeader says that the first CSV row is data. The columns are then called
	// 1, 2 and so on.
	NoHeader bool

	// Encoding is utf-8, utf-16, utf-16le, utf-16be or windows-1252. By default
	// the byte order mark tells, or else the content: it is utf-8 unless the zero
	// bytes of UTF-16 are found in the first 64 KiB, or the 64 KiB from the first byte
	// beyond ASCII on have more bytes that are no UTF-8 than characters that are, and
	// otherwise look like windows-1252.
	Encoding string

	// Log is told what was guessed and what deserves a look; nil for none.
	Log *slog.Logger
}

// check returns the options in canonical spelling.
func (o Options) check() (Options, error) {
	o.Format = strings.ToLower(o.Format)
	o.Encoding = strings.ToLower(o.Encoding)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	stdins := 0
	for _, path := range o.Paths {
		if path == stdinPath {
			stdins++
		}
	}
	switch {
	case len(o.Paths) == 0:
		return o, &OptionError{"Paths", "no input is given; name a file, or - for standard input"}
	case stdins > 1:
		return o, &OptionError{"Paths", "standard input (-) can be read only once"}
	case stdins == 1 && o.Stdin == nil:
		return o, &OptionError{"Stdin", "- is among the paths, but there is no standard input"}
	case !slices.Contains([]string{"", formatCSV, formatJSONL, formatTXT}, o.Format):
		return o, &OptionError{"Format", fmt.Sprintf("unknown format %q; want csv, jsonl or txt", o.Format)}
	case !knownEncoding(o.Encoding):
		return o, &OptionError{"Encoding", fmt.Sprintf("unknown encoding %q; want %s", o.Encoding, strings.Join(encodingNames(), ", "))}
	case o.Delimiter != 0 && !validDelimiter(o.Delimiter):
		return o, &OptionError{"Delimiter", fmt.Sprintf("%q cannot separate fields", o.Delimiter)}
	}
	return o, nil
}

func validDelimiter(r rune) bool {
	return utf8.ValidRune(r) && r != utf8.RuneError && r != '"' && r != '\r' && r != '\n'
}
