package reader

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
)

const (
	// sampleSize is enough for the header and for the rows that decide on a delimiter.
	sampleSize = 64 << 10
	// sampleLimit bounds a sample that sampleSize is not enough for: a header may be as long as a record,
	// and the columns of JSONL are those of many records.
	sampleLimit = 4 << 20
)

// file is an input, as Open has found it.
type file struct {
	info       FileInfo
	held       *stream // of standard input or a pipe, which cannot be opened again; else nil
	comma      string  // CSV: the delimiter
	separator  string  // CSV: the delimiter in a first line such as sep=;; else ""
	guessed    string  // the encoding, if it was guessed
	blank      bool    // the file is empty
	columns    []string
	types      []Column          // of columns; nil if all are text
	paths      map[string]Column // JSON: the types of the extra columns that may be dotted paths
	all        []string          // Parquet: the names of all columns, also of those that are not read
	table      *table            // Parquet
	array      bool              // JSON: an array
	inputs     []int             // CSV and Excel: indexes of the input columns in columns
	places     []int             // index in the run's columns of each of columns; nil if they are equal
	partitions []partition
}

// inspect opens an input and reads its beginning.
func (r *Reader) inspect(name string) (*file, error) {
	body, size := io.ReadCloser(io.NopCloser(r.options.Stdin)), int64(-1)
	if name != stdinPath {
		opened, length, err := r.options.openSource(name)
		if err != nil {
			return nil, &OpenError{name, err}
		}
		if inspect := r.inspectorOf(opened, length); inspect != nil {
			defer opened.Close() // only read from
			if r.total >= 0 {
				r.total += length
			}
			return inspect(name, opened, length)
		}
		body, size = opened, length
	}
	first := originOf(body)
	if name == stdinPath {
		first = originOf(r.options.Stdin)
	}
	once := size < 0
	read := &r.read
	if !once {
		read = new(atomic.Int64) // the file is read again, and counted then
	}
	f := &file{info: FileInfo{Name: name}}
	s, err := newStream(name, body, r.options.Encoding, r.onGuess(f), read)
	if err != nil {
		return nil, err
	}
	head := &sample{name: name, src: s.text}
	if err := f.examine(head, &r.options); err != nil {
		s.Close() // nothing was written: only the first error matters
		return nil, err
	}
	if once {
		r.total = -1
		s.text = head.andRest()
		s.origin, f.held = first, s
		return f, nil
	}
	if r.total >= 0 {
		r.total += size
	}
	if err := s.Close(); err != nil {
		return nil, &OpenError{name, err}
	}
	return f, nil
}

// inspectorOf returns the function for a file that is not read as text: Parquet or Excel; nil for other files.
func (r *Reader) inspectorOf(body Source, size int64) func(name string, body Source, size int64) (*file, error) {
	if size < 0 {
		return nil
	}
	switch head := headOf(body); {
	case isParquet(head):
		return r.inspectParquet
	case bytes.HasPrefix(head, []byte(zipMagic)) && isExcel(body):
		return r.inspectExcel
	}
	return nil
}

// headOf returns the first bytes of a regular file; fewer on an error, which the next Read meets as well.
func headOf(f Source) []byte {
	head := make([]byte, headSize)
	n, _ := f.ReadAt(head, 0)
	return head[:n]
}

// onGuess returns the function that decode calls with a guessed encoding; nil if there is no guess in strict
// mode. The function logs once per file, although Open and Read both open the file.
func (r *Reader) onGuess(f *file) func(encoding string) {
	if r.options.StrictCSV {
		return nil
	}
	return func(encoding string) {
		if f.guessed != encoding {
			f.guessed = encoding
			r.options.Log.Warn("the input is not UTF-8 and is read in a guessed encoding, which may be wrong: look at the letters in the output, or name the encoding, such as "+someEncodings,
				"option", "reader.Encoding", "file", displayName(f.info.Name), "encoding", encoding)
		}
	}
}

// examine finds the format, the columns and the input column of a file.
func (f *file) examine(s *sample, o *Options) error {
	if err := s.grow(sampleSize); err != nil {
		return err
	}
	if err := refuseBinary(s.name, s.data); err != nil {
		return err
	}
	f.info.Format = o.Format
	if f.info.Format == "" {
		f.info.Format = formatByName(s.name)
	}
	switch f.info.Format {
	case formatParquet:
		return &UnsupportedError{s.name, "a damaged Parquet file (its beginning is that of another file)", "fetch the file again"}
	case formatExcel:
		return &UnsupportedError{s.name, "a damaged Excel file (its beginning is that of another file)", "save it again, or save it as CSV"}
	}
	f.blank = s.whole && len(bytes.TrimSpace(s.data)) == 0
	f.separator = separatorOf(s.lines(), o)
	if f.info.Format == "" && f.separator != "" {
		f.info.Format = formatCSV
	}
	if f.info.Format == "" {
		if len(s.lines()) == 0 && s.canGrow() { // the sample ends within the first line
			if err := s.grow(sampleLimit); err != nil {
				return err
			}
		}
		f.info.Format = sniffFormat(s.lines(), o)
	}
	switch f.info.Format {
	case formatCSV:
		return f.examineCSV(s, o)
	case formatJSONL:
		return f.examineJSONL(s, o)
	default:
		return nil
	}
}

func (f *file) examineCSV(s *sample, o *Options) error {
	for {
		f.comma = commaOf(s, f.separator, o)
		first, err := f.firstRow(s, o)
		switch {
		case (err == io.EOF || first.fault != "") && s.canGrow():
			if err := s.grow(sampleLimit); err != nil {
				return err
			}
			continue
		case err == io.EOF && !s.whole:
			return &FormatError{s.name, 1, "no row in the first 4 MiB: name the format if this is not CSV", "Format"}
		case err == io.EOF:
			return nil // no records, so no columns
		case first.fault != "" && o.NoHeader:
			return &FormatError{s.name, first.line, fmt.Sprintf("the first %d rows are malformed; this one: %s", sniffRows, first.fault), optionFor(first.fault)}
		case first.fault != "":
			return &FormatError{s.name, first.line, "malformed header: " + first.fault, optionFor(first.fault)}
		}
		return f.setHeader(first.fields, o)
	}
}

// firstRow returns the row that decides on the columns. Without a header, this is the first of sniffRows that is
// not malformed. If the sample can grow, the search ends at a malformed row, which may only be cut off.
func (f *file) firstRow(s *sample, o *Options) (r csvRow, err error) {
	rows := csvRows{lines: newLines(bytes.NewReader(s.lines())), comma: f.comma, strict: o.StrictCSV}
	if f.separator != "" {
		rows.lines.skip()
	}
	for range sniffRows {
		r, err = rows.next()
		if err != nil || r.fault == "" || !o.NoHeader || s.canGrow() {
			break
		}
	}
	return r, err
}

func (f *file) setHeader(fields []string, o *Options) error {
	f.columns = columnNames(fields)
	if o.NoHeader {
		f.columns = numberedColumns(len(fields))
	}
	var err error
	if f.inputs, err = o.inputColumns(f.info.Name, f.columns); err != nil {
		return err
	}
	for _, place := range f.inputs {
		f.info.Inputs = append(f.info.Inputs, f.columns[place])
	}
	return nil
}

// sample is the beginning of a stream.
type sample struct {
	name  string
	src   io.Reader
	data  []byte
	whole bool // data is the whole stream
}

// grow reads until the sample has size bytes, or the whole stream.
func (s *sample) grow(size int) error {
	if s.whole {
		return nil
	}
	more, err := io.ReadAll(io.LimitReader(s.src, int64(size-len(s.data))))
	s.data = append(s.data, more...)
	if err != nil {
		return &ReadError{s.name, lineEnds(s.data) + 1, err}
	}
	s.whole = len(s.data) < size
	return nil
}

func (s *sample) canGrow() bool { return !s.whole && len(s.data) < sampleLimit }

// lines returns the whole lines of the sample.
func (s *sample) lines() []byte {
	if s.whole {
		return s.data
	}
	return s.data[:bytes.LastIndexAny(s.data, "\r\n")+1]
}

// andRest returns the whole stream, including the sample.
func (s *sample) andRest() io.Reader {
	if s.whole {
		return bytes.NewReader(s.data)
	}
	return io.MultiReader(bytes.NewReader(s.data), s.src)
}
