package reader

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"
)

// DefaultJoin is the default of Options.Join.
const DefaultJoin = " "

// Options describe the inputs. Only Paths or Records is required. The zero value of any other field stands for a default,
// which is mostly to examine the input.
type Options struct {
	// Paths are files, folders, globs, URLs of these, or "-" (once) for Stdin, read in this order. A path that exists is
	// not a glob, even if it has glob characters. The files of a glob are sorted by name.
	Paths []string
	// Records are the input in place of Paths. They are ranged over once, by another goroutine than that of the caller of
	// Read, one record ahead. Number is set, and File and Line are set if they are not given. A record with Err, with
	// another number of Fields than RecordColumns, or with invalid UTF-8 is malformed. An error of the sequence is final.
	// The options of formats must not be given. The sequence may use the slices of a record again. See [Inputs] for records without fields.
	Records iter.Seq2[Record, error]
	// RecordColumns are the names of the Fields of Records. A record without Fields has empty ones.
	RecordColumns []string
	// Storage opens the paths that are URLs, such as s3://bucket/key; nil for none.
	Storage Storage
	// Context ends the calls of Storage, the reads of its objects, and the wait for Records; nil for none.
	Context context.Context
	// Stdin is the standard input, for the path "-". The Reader does not close it.
	Stdin io.Reader

	// Format is one of [FormatNames], in any case; jsonl is also that of JSON arrays and of values of several lines. The
	// default is the format of the extension, also with .gz or .zst after it, or else of the content. Parquet and Excel
	// are always recognized by their content.
	Format string

	// Columns are the names of the input columns, exactly or, if that is unambiguous, in any case and with other spaces
	// and underscores. In JSONL and Parquet they may be dotted paths. JSONL strings and lines of txt are inputs
	// themselves and need no column. The input of several columns is their values in this order with Join between,
	// without those that are blank, null or Missing.
	Columns []string
	// Join stands between the values of several input columns. The default is a space.
	Join string
	// Missing reports whether a value of one of several input columns stands for no value, as NULL does; nil for none.
	Missing func(value string) bool
	// Candidates are names for the input column, tried in this order and like Columns if Columns is empty.
	Candidates []string
	// ExtraColumns are names like Columns, keys or dotted paths that are columns even if the first records of a JSONL file
	// do not have them. Without a JSONL file among the inputs, a file must have each of them.
	ExtraColumns []string
	// NamedOnly says that the columns of Parquet are ExtraColumns alone: other columns are not read, except for the
	// input columns.
	NamedOnly bool
	// InputsOnly says that the fields of records are not used: those of Parquet are empty then, and their columns are not
	// read. A record that only its other columns would make malformed is then not malformed.
	InputsOnly bool
	// Reuse says that the Fields and Nulls of a record are used until the next Read only. Those of Parquet then share memory.
	Reuse bool

	// Sheet is the sheet of Excel files, in any case. The default is the first sheet.
	Sheet string

	// Dialect says how rows are written as text. By default the content decides.
	Dialect Dialect
	// Comment begins the lines of txt that are no inputs unless the Dialect says it; "" for none.
	Comment string

	// Encoding is utf-8, utf-16 or another label of the WHATWG Encoding Standard, such as windows-1252, iso-8859-2,
	// shift_jis or gbk, in any case. The default is the encoding of the byte order mark, or else utf-8, unless the
	// content looks like another: the first 64 KiB have the zero bytes of UTF-16, or the 64 KiB from the first byte
	// beyond ASCII look like windows-1252.
	Encoding string

	// MaxRecord is the most bytes of a record. The default is 1 MiB, which only stray quotes and binary files exceed.
	MaxRecord int

	// Log receives the guesses and warnings; nil for none.
	Log *slog.Logger
}

// check returns the options with defaults and names in lower case. The error is an *OptionError.
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
	if o.Context == nil {
		o.Context = context.Background()
	}
	stdins := 0
	for _, path := range o.Paths {
		if path == stdinPath {
			stdins++
		}
	}
	switch {
	case len(o.Paths) == 0 && o.Records == nil:
		return o, &OptionError{"Paths", "no input is given; name a file, or - for standard input"}
	case stdins > 1:
		return o, &OptionError{"Paths", "standard input (-) can be read only once"}
	case stdins == 1 && o.Stdin == nil:
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

// checkRecords refuses options that are not for the records of the caller.
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

// namedTwice returns the first name that is there twice; "" if there is none.
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

func validDelimiter(r rune) bool {
	return utf8.ValidRune(r) && r != utf8.RuneError && r != '"' && r != '\r' && r != '\n'
}
