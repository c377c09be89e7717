package reader

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
)

// DefaultJoin is the default of Options.Join.
const DefaultJoin = " "

// Options describe the inputs. Only Paths or Records is required. Most other fields are detected from the input by default.
type Options struct {
	// Paths are files, folders, globs, URLs of these, or "-" (once) for Stdin, read in this order. A path that exists is
	// not a glob, even if it has glob characters. The files of a glob are sorted by name.
	Paths []string
	// Records are the input instead of Paths. The Reader ranges over them once, in its own goroutine, one record ahead of Read.
	// The Reader sets Number, and sets File and Line if they are zero. A record with Err, with a wrong number of Fields, or with
	// invalid UTF-8 is malformed. An error of the sequence is final. The sequence may reuse the slices of a record. Options of
	// formats are errors. For records without fields, see [Inputs].
	Records iter.Seq2[Record, error]
	// RecordColumns are the names of the Fields of Records. A record without Fields gets empty fields.
	RecordColumns []string
	// IsOutput reports whether a file or a folder is the output of a run; nil for none. Outputs in a glob or a folder among Paths
	// are left out, with a warning. A path that is named itself is read. exists reports whether there is a file or an object.
	IsOutput func(path string, exists func(string) bool) bool
	// Storage opens the paths that are URLs, such as s3://bucket/key; nil for none.
	Storage Storage
	// Stdin is the standard input, for the path "-". The Reader does not close it.
	Stdin io.Reader

	// Format is one of [FormatNames], in any case. jsonl includes JSON arrays and values of several lines. The default is the
	// format of the extension, which may be followed by .gz or .zst, or else of the content. Parquet and Excel are always
	// recognized by their content.
	Format string

	// Columns are the names of the input columns: exact or, if that is unambiguous, with differences in case, spaces, hyphens and
	// underscores. In JSONL and Parquet they may be dotted paths. JSONL strings and lines of txt are inputs themselves and need
	// no column. The values of several columns are joined in this order, without values that are blank, null or Missing.
	Columns []string
	// Join is the separator between the values of several input columns. The default is a space.
	Join string
	// Missing reports whether a value of one of several input columns is a placeholder for a missing value, such as NULL; nil
	// for none.
	Missing func(value string) bool
	// Candidates are names of the input column to try, in this order, if Columns is empty.
	Candidates []string
	// ExtraColumns are names like Columns. They are columns even if the first records of a JSONL file do not have them. If no
	// input is JSONL, some file must have each of them.
	ExtraColumns []string
	// NamedOnly reads only ExtraColumns and the input columns of Parquet.
	NamedOnly bool
	// InputsOnly reads only the input columns of Parquet: fields are empty, and values in other columns do not make a record
	// malformed.
	InputsOnly bool
	// Reuse lets Parquet records share the memory of Fields and Nulls, which are then valid only until the next Read.
	Reuse bool

	// Sheet is the sheet of Excel files, in any case. The default is the first sheet.
	Sheet string

	// Dialect is the form of rows as text. By default it is detected.
	Dialect Dialect
	// Comment is the beginning of comment lines in txt, if the Dialect has none; "" for none.
	Comment string

	// Encoding is utf-8, utf-16 or another label of the WHATWG Encoding Standard, such as windows-1252, iso-8859-2, shift_jis or
	// gbk, in any case. The default is the encoding of the byte order mark. Without a mark, it is utf-8, unless the first 64 KiB
	// have the zero bytes of UTF-16, or the 64 KiB from the first byte beyond ASCII look like windows-1252.
	Encoding string

	// MaxRecord is the most bytes of a record. The default and the least is 1 MiB, which only stray quotes and binary files
	// exceed.
	MaxRecord int

	// Log gets guesses and warnings; nil for no log.
	Log *slog.Logger
}

// check returns the options with defaults, and names in lower case. The error is an *OptionError.
func (o Options) check() (Options, error) {
	if err := o.checkRecords(); err != nil {
		return o, err
	}
	o.Format = strings.ToLower(o.Format)
	encoding, knownEncoding := o.Encoding, true
	if o.Encoding != "" {
		o.Encoding, _, knownEncoding = encodingOf(strings.ToLower(o.Encoding))
	}
	o.Join, o.MaxRecord = cmp.Or(o.Join, DefaultJoin), max(o.MaxRecord, maxRecord)
	if o.Missing == nil {
		o.Missing = func(string) bool { return false }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	stdin := slices.Index(o.Paths, stdinPath)
	switch {
	case len(o.Paths) == 0 && o.Records == nil:
		return o, &OptionError{"Paths", "no input is given; name a file, or - for standard input"}
	case stdin >= 0 && slices.Contains(o.Paths[stdin+1:], stdinPath):
		return o, &OptionError{"Paths", "standard input (-) can be read only once"}
	case stdin >= 0 && o.Stdin == nil:
		return o, &OptionError{"Stdin", "- is among the paths, but there is no standard input"}
	case namedTwice(o.Columns) != "":
		return o, &OptionError{"Columns", fmt.Sprintf("the column %q is named twice", namedTwice(o.Columns))}
	case o.Format != "" && formatNamed(o.Format) == nil:
		return o, &OptionError{"Format", fmt.Sprintf("unknown format %q; want %s", o.Format, FormatNames())}
	case !knownEncoding:
		return o, &OptionError{"Encoding", fmt.Sprintf("unknown encoding %q; want a label of the WHATWG Encoding Standard, such as %s", encoding, someEncodings)}
	}
	if err := o.Dialect.check(); err != nil {
		return o, &OptionError{"Dialect", err.Error()}
	}
	return o, nil
}

// checkRecords returns an error for options that do not go with Records.
func (o *Options) checkRecords() error {
	formatted := o.Format != "" || len(o.Columns) > 0 || o.Join != "" || o.Sheet != "" || o.Dialect != (Dialect{}) || o.Encoding != ""
	switch {
	case o.Records == nil && len(o.RecordColumns) > 0:
		return &OptionError{"RecordColumns", "there are no Records"}
	case o.Records != nil && len(o.Paths) > 0:
		return &OptionError{"Records", "Paths are given, too"}
	case o.Records != nil && formatted:
		return &OptionError{"Records", "the options of formats and columns are for files: leave them out"}
	}
	return nil
}

// namedTwice returns the first repeated name; "" if there is none.
func namedTwice(names []string) string {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name
		}
	}
	return ""
}

// someEncodings are examples for messages.
const someEncodings = "windows-1250 or iso-8859-2 (Polish, Czech), windows-1251 (Russian), windows-1254 (Turkish), shift_jis (Japanese), euc-kr (Korean), gbk or big5 (Chinese)"
