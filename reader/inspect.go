package reader

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
)

const (
	// sampleSize shows the header and enough rows to tell a delimiter.
	sampleSize = 64 << 10
	// sampleLimit bounds the sample where the first one does not do: a header
	// may be as long as a record, and JSONL shows its columns over many records.
	sampleLimit = 4 << 20
)

// file is an input as it was found when the run was opened.
type file struct {
	info      FileInfo
	held      *stream // of standard input or a pipe, which cannot be opened again
	comma     string  // CSV: what separates fields
	separator string  // CSV: the delimiter that the first line names for Excel; "" if it does not
	guessed   string  // the encoding, where the content told it
	blank     bool    // nothing is in the file, so that it shows no columns
	cr        bool    // lines end with CR alone, as old spreadsheets write them
	columns   []string
	input     int   // CSV: the input column's place in columns
	places    []int // of columns among the run's; nil when they are the same
}

// inspect opens an input and looks into its beginning.
func (r *Reader) inspect(name string) (*file, error) {
	body, size := io.NopCloser(r.options.Stdin), int64(-1)
	if name != stdinPath {
		var err error
		if body, size, err = open(name); err != nil {
			return nil, &OpenError{name, err}
		}
	}
	first := originOf(body)
	if name == stdinPath {
		first = originOf(r.options.Stdin)
	}
	once := size < 0
	read := &r.read
	if !once {
		read = new(atomic.Int64) // what is read now is read again, and counted then
	}
	f := &file{info: FileInfo{Name: name}}
	s, err := newStream(body, r.options.Encoding, r.onGuess(f), read)
	if err != nil {
		return nil, &ReadError{name, 1, err}
	}
	head := &sample{name: name, src: s.text}
	if err := f.examine(head, &r.options); err != nil {
		s.Close() // nothing was written: the first error is the one to tell
		return nil, err
	}
	if once {
		r.total = -1
		s.text = head.andRest() // with LF for CR already
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

// onGuess returns what to call when the content of a file tells its encoding; nil where
// nothing is to be guessed. The log tells it once, though a file is opened twice.
func (r *Reader) onGuess(f *file) func(encoding string) {
	if r.options.StrictCSV {
		return nil
	}
	return func(encoding string) {
		if f.guessed != encoding {
			f.guessed = encoding
			r.options.Log.Warn("the input is not UTF-8 and is read in the encoding that it looks like; --encoding names another",
				"file", displayName(f.info.Name), "encoding", encoding)
		}
	}
}

// examine settles the file's format, its columns and which of them is the input.
func (f *file) examine(s *sample, o *Options) error {
	if err := s.grow(sampleSize); err != nil {
		return err
	}
	if f.cr = s.endsLinesWithCR(); f.cr {
		s.src = crReader{s.src}
		replaceCR(s.data)
	}
	f.info.Format = o.Format
	if f.info.Format == "" {
		f.info.Format = formatByName(s.name)
	}
	f.blank = s.whole && len(bytes.TrimSpace(s.data)) == 0
	f.separator = separatorOf(s.lines(), o)
	if f.info.Format == "" && f.separator != "" {
		f.info.Format = formatCSV
	}
	if f.info.Format == "" {
		if len(s.lines()) == 0 && s.canGrow() { // of a long first line nothing would be seen
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
			return &FormatError{s.name, 1, "no row in the first 4 MiB: name the format with --input-format if this is no CSV"}
		case err == io.EOF:
			return nil // no records, so no columns
		case first.fault != "" && o.NoHeader:
			return &FormatError{s.name, first.line, fmt.Sprintf("the first %d rows are malformed; this one: %s", sniffRows, first.fault)}
		case first.fault != "":
			return &FormatError{s.name, first.line, "malformed header: " + first.fault}
		}
		return f.setHeader(first.fields, o)
	}
}

// firstRow returns the row that shows the columns. Without a header that is the
// first well-formed one, if one of sniffRows is, but a sample that can grow is not
// searched beyond a malformed one, which may only be cut off.
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
	if o.NoHeader && o.Column == "" && len(fields) == 1 {
		f.info.Column = f.columns[0]
		return nil
	}
	var err error
	if f.input, err = o.inputColumn(f.info.Name, f.columns); err != nil {
		return err
	}
	f.info.Column = f.columns[f.input]
	return nil
}

// sample is the beginning of a stream.
type sample struct {
	name  string
	src   io.Reader
	data  []byte
	whole bool // the data is all there is
}

// grow reads on until there are size bytes, or no more.
func (s *sample) grow(size int) error {
	if s.whole {
		return nil
	}
	more, err := io.ReadAll(io.LimitReader(s.src, int64(size-len(s.data))))
	s.data = append(s.data, more...)
	if err != nil {
		return &ReadError{s.name, int64(bytes.Count(s.data, []byte{'\n'})) + 1, err}
	}
	s.whole = len(s.data) < size
	return nil
}

// endsLinesWithCR says whether there is no other line end. A CR at the very end of a sample
// may be half of one.
func (s *sample) endsLinesWithCR() bool {
	at := bytes.IndexByte(s.data, '\r')
	return at >= 0 && bytes.IndexByte(s.data, '\n') < 0 && (s.whole || at < len(s.data)-1)
}

// crReader gives LF for CR.
type crReader struct{ io.Reader }

func (r crReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	replaceCR(p[:n])
	return n, err
}

func replaceCR(text []byte) {
	for i := range text {
		if text[i] == '\r' {
			text[i] = '\n'
		}
	}
}

func (s *sample) canGrow() bool { return !s.whole && len(s.data) < sampleLimit }

// lines returns the sample without a line that it cuts off.
func (s *sample) lines() []byte {
	if s.whole {
		return s.data
	}
	return s.data[:bytes.LastIndexByte(s.data, '\n')+1]
}

// andRest returns the whole stream, of which the sample has been read.
func (s *sample) andRest() io.Reader {
	if s.whole {
		return bytes.NewReader(s.data)
	}
	return io.MultiReader(bytes.NewReader(s.data), s.src)
}
