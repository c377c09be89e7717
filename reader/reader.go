package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// Record is one input to categorize, with its other fields.
type Record struct {
	Number int64  // counted from 1 over all files
	File   string // the path as given or as a glob found it; "-" for standard input
	Line   int64  // the line in File on which the record starts, from 1; in Parquet and Excel the row

	// Input is the decoded value of the input column, or the joined values of several, neither trimmed nor checked. It is "" if
	// the value is missing or null, or the record is malformed.
	Input string

	// Fields has a value for each of [Reader.Columns]: "" for a missing value, and for an uncertain value of a malformed
	// record. JSON values other than strings are compact JSON. Every value is valid UTF-8. Records share memory: do not modify
	// Fields.
	Fields []string

	// Nulls reports for each of Fields whether it is null. It is nil for formats without nulls (CSV and txt), and for a record
	// without fields. Do not modify it.
	Nulls []bool

	// Err is a *RowError when the record is malformed, else nil.
	Err error
}

// FileInfo describes one file and the part that was read.
type FileInfo struct {
	Name    string   // as in Record.File; InMemory for Options.Records, for which all other fields are zero
	Format  string   // one of FormatNames, or json for an array or for values of several lines
	Packed  bool     // compressed, or a text in an archive
	Inputs  []string // the names of the input columns; none for txt and for JSONL strings
	Guessed bool     // an input column was chosen among several with usual names or with the same name
	Bytes   int64    // number of bytes read so far, as stored (compressed)
	SHA256  string   // checksum of these bytes, in hex; "" before the first byte
	Whole   bool     // the file was read to its end

	Comments int64 // number of comment lines of txt, read so far
}

// Reader reads the records of a run in order. Its methods are for one goroutine at a time, except Progress.
type Reader struct {
	ctx     context.Context // for the calls of Storage, the reads of its objects, and the wait for Records
	options Options
	files   []*file
	columns []string
	types   []Column        // of columns
	index   map[string]int  // index of each column, by its names in all files
	alike   map[string]int  // index of each column, by its name without case, or by its name if that is apart
	apart   map[string]bool // names without case of which a file has several columns
	blank   []string        // Fields of records without fields

	read  atomic.Int64
	total int64

	next    int // index in files of the next file
	current *file
	stream  *stream
	parser  parser
	number  int64   // number of the last record
	before  int64   // number of the last record before the current file
	ahead   *Record // the record that Empty has read; nil for none
	memory  *memory // of Options.Records; nil for files
	unknown unknownKeys
	err     error
}

// row is a record as a parser returns it.
type row struct {
	line   int64
	input  string   // "" for a table, whose fields have the input
	fields []string // parallel to Reader.columns; nil for none
	nulls  []bool   // parallel to fields; nil if the format has no nulls
	fault  string   // why the row is malformed; "" if it is not
}

// parser reads the rows of one file. It returns io.EOF after the last row; any other error is final.
type parser interface {
	next() (row, error)
	at() int64 // number of the next line
}

// Open reads the beginning of every input. It finds the columns, and returns an error for a missing file, an unknown column or
// a damaged beginning, before any request is sent. For standard input and pipes, it waits for 64 KiB, for 1,000 records or 4
// MiB of JSONL, or for their end. The end of ctx ends the calls of Storage, the reads of its objects, and the wait for Records,
// until the reader is closed.
//
// The error is an *OptionError, *OpenError, *UnsupportedError, *FormatError, *ColumnError or *ReadError.
func Open(ctx context.Context, options Options) (*Reader, error) {
	options, err := options.check()
	if err != nil {
		return nil, err
	}
	names, err := options.expand(ctx)
	if err != nil {
		return nil, err
	}
	r := &Reader{ctx: ctx, options: options}
	for _, name := range names {
		f, err := r.inspect(name)
		if err != nil {
			r.Close() // nothing was written: only the first error matters
			return nil, r.withoutHeader(err)
		}
		f.partitions = partitionsOf(options.Paths, name)
		if err := r.checkPart(f); err != nil {
			r.Close()
			return nil, err
		}
		r.files = append(r.files, f)
	}
	if options.Records != nil {
		r.files = append(r.files, r.ofMemory())
	}
	if err := r.unite(); err != nil {
		r.Close()
		return nil, err
	}
	r.warnOfSeveral()
	return r, nil
}

// withoutHeader adds to the error of a file that its header may be missing, as in the later parts of a table that was split
// between lines.
func (r *Reader) withoutHeader(err error) error {
	e, isColumn := errors.AsType[*ColumnError](err)
	if !isColumn || !e.Header || len(r.files) == 0 || r.options.Dialect.noHeader() {
		return err
	}
	first := r.files[0]
	shared := slices.ContainsFunc(e.Columns, func(column string) bool { return slices.ContainsFunc(first.columns, likeName(column)) })
	if first.format == &csvFormat && len(first.columns) == len(e.Columns) && !shared {
		e.Continues = first.info.Name
	}
	return err
}

// checkPart returns an *UnsupportedError if a part without an extension has another format than the previous part: one of the two
// is perhaps a note.
func (r *Reader) checkPart(f *file) error {
	name := f.info.Name
	if len(r.files) == 0 || extension(name) != "" || slices.Contains(r.options.Paths, name) {
		return nil
	}
	if before := r.files[len(r.files)-1]; before.format != f.format && filepath.Dir(before.info.Name) == filepath.Dir(name) {
		return severalFormats(filepath.Dir(name))
	}
	return nil
}

// Columns returns the columns of all files in order of first appearance, including the input column, and then the
// other names of Options.ExtraColumns. An input column that is a dotted path is not among the columns.
func (r *Reader) Columns() []string { return slices.Clone(r.columns) }

// Schema returns the columns with their types, parallel to Columns. The types of JSON are from the first 1,000 records: later
// values may have other types.
func (r *Reader) Schema() []Column { return slices.Clone(r.types) }

// Read returns the next record. A malformed record has Err set, and the error is nil. The error is io.EOF after the last
// record. Any other error is final: a *ReadError, a *ChangedError if a file changed while it was read, or an *OpenError or
// *FormatError if a file changed after Open.
func (r *Reader) Read() (Record, error) {
	if r.ahead != nil {
		record := *r.ahead
		r.ahead = nil
		return record, nil
	}
	for r.err == nil {
		if r.memory != nil {
			return r.readMemory()
		}
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

// Empty reports whether there are no more records. It waits for the next record or error, which Read then returns.
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

// Files describes the files, in the order of reading.
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

// Progress returns the number of bytes read and the total number of bytes of the inputs, as stored. The total is -1
// if standard input or a pipe is among the inputs. Progress may be called from any goroutine.
func (r *Reader) Progress() (read, total int64) { return r.read.Load(), r.total }

// UnknownKeys returns up to 20 top-level keys of JSONL records that are not columns, and the number of records with such keys.
// They are keys that the first records did not have. Options.ExtraColumns makes them columns.
func (r *Reader) UnknownKeys() (names []string, records int64) {
	return slices.Clone(r.unknown.names), r.unknown.records
}

// Close closes the open files, but not Options.Stdin, and waits until the sequence of Options.Records has returned. Afterwards
// Read returns fs.ErrClosed, or its earlier error.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = fs.ErrClosed
	}
	r.memory.stop()
	var err error
	if r.stream != nil {
		r.current.info.Bytes, r.current.info.SHA256 = r.stream.raw.digest()
		err = r.stream.Close()
	}
	for _, f := range r.files[r.next:] {
		if f.pipe != nil {
			err = errors.Join(err, f.pipe.Close())
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
	}
	if r.current.inputs != nil && row.fault == "" {
		rec.Input = r.options.inputOf(row.fields, r.current.inputs)
	}
	rec.Fields, rec.Nulls = r.placed(row)
	if rec.Fields == nil {
		rec.Fields = r.blank
		if len(r.current.partitions) > 0 {
			rec.Fields = slices.Clone(r.blank)
		}
	}
	r.current.addPartitions(&rec)
	if row.fault != "" {
		if encoding := cmp.Or(r.stream.encoding, r.current.guessed); row.fault == faultEncoding && encoding != "" {
			row.fault = "invalid " + encoding + otherEncoding
		}
		if most := r.options.MaxRecord; most > maxRecord {
			row.fault = strings.Replace(row.fault, oneMiB, fmt.Sprintf("%d MiB", most>>20), 1)
		}
		rec.Err = &RowError{rec.File, rec.Line, row.fault}
	}
	return rec
}

// openNext opens the next file; io.EOF if there is none.
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
	r.current, r.stream, r.before = f, s, r.number
	r.parser, err = f.open(r, f, s)
	return err
}

func (r *Reader) reopen(f *file) (*stream, error) {
	if f.pipe != nil {
		return f.pipe, nil
	}
	body, size, err := r.options.openSource(r.ctx, f.info.Name)
	if err != nil {
		return nil, &OpenError{f.info.Name, err}
	}
	if f.format.recognize == nil {
		return r.newStream(f, body, &r.read)
	}
	s := newRawStream(body, &r.read)
	s.seekable, s.size = body, size
	return s, nil
}

// finish completes the FileInfo of the current file and closes the file.
func (r *Reader) finish() error {
	f := r.current
	// A decompressor may not read the last raw bytes.
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
	r.current, r.stream, r.parser, f.pipe = nil, nil, nil, nil
	if err != nil {
		return &ReadError{f.info.Name, line, err}
	}
	return nil
}
