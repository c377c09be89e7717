package reader

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync/atomic"
)

// Record is one input to categorize, and what came with it.
type Record struct {
	Number int64  // counted from 1 over all files
	File   string // the path as given or as a glob found it; "-" for standard input
	Line   int64  // the line in File on which the record starts, from 1

	// Input is the value of the input column as it stands in the file, decoded
	// but neither trimmed nor checked. It is "" when the value is missing or
	// null, and when the record is malformed.
	Input string

	// Fields has one value for each of [Reader.Columns], "" where the record has
	// nothing, or where its row is too malformed to tell. JSON values that are not
	// strings are compact JSON text. Every value is valid UTF-8. Fields and Input
	// share memory; do not change them.
	Fields []string

	// Err is a *RowError when the record is malformed, else nil.
	Err error
}

// FileInfo is the account of one file.
type FileInfo struct {
	Name   string // as in Record.File
	Format string // csv, jsonl or txt
	Column string // the input column; "" for txt and bare strings
	Bytes  int64  // read so far, as stored (compressed)
	SHA256 string // of those bytes, in hex; "" before the first
	Whole  bool   // read to its end
}

// Reader reads records one after another. Its methods are for one goroutine,
// except Progress.
type Reader struct {
	options Options
	files   []*file
	columns []string
	index   map[string]int // column name to its place in columns
	blank   []string       // the Fields of records that have none

	read  atomic.Int64
	total int64

	next    int // files[next] is the one to open next
	current *file
	stream  *stream
	lines   *lines // of the parser
	parser  parser
	number  int64   // of the last record read
	before  int64   // that of the last one before the current file
	ahead   *Record // read already; nil if none is
	unknown unknownKeys
	err     error
}

// row is a record as the parser of a format sees it.
type row struct {
	line   int64
	input  string
	fields []string // parallel to Reader.columns; nil when there are none
	fault  string   // why the row is malformed; "" when it is not
}

// parser reads the rows of one file. It returns io.EOF after the last one; any
// other error is fatal.
type parser interface {
	next() (row, error)
	at() int64 // the line that comes next
}

// Open looks into the beginning of every input, so that a missing file, an
// unknown column or a damaged beginning is found before anything is spent, and
// the columns are known before the first record. Of standard input and pipes it
// waits for 64 KiB, and for up to 1,000 records (4 MiB) of JSONL, or their end.
//
// Its errors are *OptionError, *OpenError, *FormatError, *ColumnError and
// *ReadError.
func Open(options Options) (*Reader, error) {
	options, err := options.check()
	if err != nil {
		return nil, err
	}
	names, err := expand(options.Paths)
	if err != nil {
		return nil, err
	}
	r := &Reader{options: options}
	for _, name := range names {
		f, err := r.inspect(name)
		if err != nil {
			r.Close() // nothing was written: the first error is the one to tell
			return nil, err
		}
		r.files = append(r.files, f)
	}
	if err := r.unite(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Columns returns the columns of all files, in order of first appearance, the
// input column among them, then those of Options.ExtraColumns that were not
// seen. An input column that is a dotted path is not a column by itself.
func (r *Reader) Columns() []string { return slices.Clone(r.columns) }

// Read returns the next record. A malformed one is returned with its Err set
// and a nil error. The error is io.EOF after the last record; any other
// (*ReadError; *ChangedError when a file changed while it was read; *OpenError or
// *FormatError when it changed between Open and its turn) is final.
func (r *Reader) Read() (Record, error) {
	if r.ahead != nil {
		record := *r.ahead
		r.ahead = nil
		return record, nil
	}
	for r.err == nil {
		if r.parser == nil {
			r.err = r.openNext()
			continue
		}
		row, err := r.parser.next()
		switch {
		case err == nil:
			return r.record(row), nil
		case err == io.EOF:
			r.err = r.finish()
		default:
			r.err = &ReadError{r.current.info.Name, r.parser.at(), err}
		}
	}
	return Record{}, r.err
}

// Empty reads as far as the first record and says whether there is none. The record,
// or an error, is what Read returns next.
func (r *Reader) Empty() bool {
	if r.ahead == nil {
		record, err := r.Read()
		if err != nil {
			return err == io.EOF
		}
		r.ahead = &record
	}
	return false
}

// Files returns the account of every file, in the order of reading.
func (r *Reader) Files() []FileInfo {
	infos := make([]FileInfo, len(r.files))
	for i, f := range r.files {
		if f == r.current {
			f.info.Bytes, f.info.SHA256 = r.stream.raw.digest()
		}
		infos[i] = f.info
	}
	return infos
}

// Progress returns how many bytes of the inputs were read, as stored, and how
// many there are: -1 when standard input or a pipe is among them. It may be
// called from any goroutine.
func (r *Reader) Progress() (read, total int64) { return r.read.Load(), r.total }

// UnknownKeys returns how many JSONL records had a top-level key that is no
// column because the beginning of its file did not show it, and up to 20 such
// keys in order of appearance. Naming them in Options.ExtraColumns carries them.
func (r *Reader) UnknownKeys() (names []string, records int64) {
	return slices.Clone(r.unknown.names), r.unknown.records
}

// Close closes what is open, though not Options.Stdin.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = fs.ErrClosed
	}
	var err error
	if r.stream != nil {
		r.current.info.Bytes, r.current.info.SHA256 = r.stream.raw.digest()
		err = r.stream.Close()
	}
	for _, f := range r.files[r.next:] {
		if f.held != nil {
			err = errors.Join(err, f.held.Close())
		}
	}
	r.current, r.stream, r.parser, r.ahead, r.next = nil, nil, nil, nil, len(r.files)
	return err
}

func (r *Reader) record(row row) Record {
	r.number++
	rec := Record{
		Number: r.number,
		File:   r.current.info.Name,
		Line:   row.line,
		Input:  row.input,
		Fields: row.fields,
	}
	if rec.Fields == nil {
		rec.Fields = r.blank
	}
	if row.fault != "" {
		rec.Err = &RowError{rec.File, rec.Line, row.fault}
	}
	return rec
}

// openNext begins the next file; io.EOF when there is none.
func (r *Reader) openNext() error {
	if r.next == len(r.files) {
		return io.EOF
	}
	f := r.files[r.next]
	s, err := r.reopen(f)
	if err != nil {
		return err
	}
	r.next++
	r.current, r.stream, r.lines, r.before = f, s, newLines(s.text), r.number
	r.parser, err = r.newParser(f, r.lines)
	return err
}

func (r *Reader) reopen(f *file) (*stream, error) {
	if f.held != nil {
		return f.held, nil
	}
	body, _, err := open(f.info.Name)
	if err != nil {
		return nil, &OpenError{f.info.Name, err}
	}
	first := originOf(body)
	s, err := newStream(body, r.options.Encoding, r.onGuess(f), &r.read)
	if err != nil {
		return nil, &ReadError{f.info.Name, 1, err}
	}
	s.origin = first
	if f.cr {
		s.text = crReader{s.text}
	}
	return s, nil
}

func (r *Reader) newParser(f *file, lines *lines) (parser, error) {
	switch f.info.Format {
	case formatCSV:
		return newCSVParser(f, lines, len(r.columns), &r.options)
	case formatJSONL:
		return &jsonlParser{lines: lines, input: f.info.Column, columns: r.index, paths: r.paths(), unknown: &r.unknown}, nil
	default:
		return &txtParser{lines: lines}, nil
	}
}

// finish completes the account of the current file and closes it.
func (r *Reader) finish() error {
	f := r.current
	// A decompressor may stop short of the last raw bytes.
	if _, err := io.Copy(io.Discard, r.stream.raw); err != nil {
		return &ReadError{f.info.Name, r.parser.at(), err}
	}
	f.info.Bytes, f.info.SHA256 = r.stream.raw.digest()
	if err := r.checkOrigin(); err != nil {
		return err
	}
	f.info.Whole = true
	if r.number == r.before {
		r.options.Log.Warn("the input has no records", "file", displayName(f.info.Name))
	}
	err := r.stream.Close()
	line := r.parser.at()
	r.current, r.stream, r.parser, f.held = nil, nil, nil, nil
	if err != nil {
		return &ReadError{f.info.Name, line, err}
	}
	return nil
}
