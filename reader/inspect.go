package reader

import (
	"bytes"
	"io"
	"sync/atomic"
)

const (
	// sampleSize is enough for the header and for the rows that decide on a delimiter.
	sampleSize = 64 << 10
	// sampleLimit is the largest sample, if sampleSize is not enough: a header may be as long as a record, and the columns of
	// JSONL come from many records.
	sampleLimit = 4 << 20
)

// file is an input and the results of Open.
type file struct {
	info       FileInfo
	format     *inputFormat
	open       opener
	table      *zippedTable // of a zip archive; nil for other files
	pipe       *stream      // the stream of standard input or a pipe, which cannot be opened again; else nil
	guessed    string       // the encoding, if it was guessed
	blank      bool         // the file is empty
	header     []string     // the names of the columns as the file has them: several may be equal; nil if no names can be equal
	columns    []string     // the names of types
	types      []Column
	inputs     []int             // of a table: indexes of the input columns in columns
	paths      map[string]Column // the extra columns that may be dotted paths, with their types
	all        []string          // the names of all columns, if some are not read
	several    []string          // columns that may be the input: with usual names, or with the name of an input column
	places     []int             // indexes of columns in the run's columns; nil if the rows have the order of these
	partitions []partition
}

// inspect opens an input and reads its beginning.
func (r *Reader) inspect(name string) (*file, error) {
	f := &file{info: FileInfo{Name: name}}
	body, size, first := io.NopCloser(r.options.Stdin), int64(-1), originOf(r.options.Stdin)
	if name != stdinPath {
		opened, length, err := r.options.openSource(r.ctx, name)
		if err != nil {
			return nil, &OpenError{name, err}
		}
		head := headOf(opened, length)
		f.format = firstFormat(func(f *inputFormat) bool { return f.recognize != nil && f.recognize(head, opened, length) })
		if f.format != nil {
			defer opened.Close() // only read from
			r.addTotal(length)
			f.info.Format = f.format.name
			f.open, err = f.format.inspect(f, opened, length, &r.options)
			return f, err
		}
		if f.table, err = tableIn(name, head, opened, length); err != nil {
			opened.Close() // only read from
			return nil, err
		}
		body, size = opened, length
	}
	r.addTotal(size)
	once := size < 0
	read := &r.read
	if !once {
		read = new(atomic.Int64) // the file is counted when it is read again
	}
	s, err := r.newStream(f, body, read)
	if err != nil {
		return nil, err
	}
	f.info.Packed = s.packed
	head := &beginning{name: f.name(), src: s.text}
	if err := f.examine(head, &r.options); err != nil {
		s.Close() // nothing was written: only the first error matters
		return nil, err
	}
	if once {
		s.text = head.andRest()
		if f.pipe = s; name == stdinPath {
			s.origin = first
		}
		return f, nil
	}
	if err := s.Close(); err != nil {
		return nil, &OpenError{name, err}
	}
	return f, nil
}

// name returns the name of the file, with the name of the table in an archive.
func (f *file) name() string {
	if f.table == nil {
		return f.info.Name
	}
	return f.info.Name + "/" + f.table.name
}

// addTotal adds the size of an input to the total. If a size is -1, the total is -1.
func (r *Reader) addTotal(size int64) {
	switch {
	case size < 0:
		r.total = -1
	case r.total >= 0:
		r.total += size
	}
}

// onGuess returns the argument found of decode; nil in strict mode. The function logs once per file, although Open and Read
// both open the file.
func (r *Reader) onGuess(f *file) func(encoding string) {
	if r.options.Dialect.Strict {
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
func (f *file) examine(s *beginning, o *Options) (err error) {
	if err := s.grow(sampleSize); err != nil {
		return err
	}
	binary := refuseBinary(s.name, s.data)
	if f.format = formatNamed(o.Format); f.format == nil {
		f.format = formatByName(s.name)
	}
	if marked := firstFormat(func(m *inputFormat) bool { return m.marked && m.fit(s, o) == sureFit }); marked != nil {
		f.format = marked
	}
	f.blank = s.whole && len(bytes.TrimSpace(s.data)) == 0
	if f.format == nil {
		if len(s.lines()) == 0 && s.canGrow() && binary == nil { // the sample ends within the first line
			if err := s.grow(sampleLimit); err != nil {
				return err
			}
		}
		f.format = bestFormat(s, o)
	}
	if f.format == &txtFormat && o.Format == "" {
		if clear := bestFormat(s, o); clear != nil && clear.fit(s, o) >= strongFit {
			f.format = clear
			o.Log.Warn("the content is not one input per line, whatever the name of the file: it is read by its columns",
				"option", "reader.Format", "file", displayName(s.name), "format", clear.name)
		}
	}
	switch {
	case binary != nil:
		return binary
	case f.format.damaged != nil:
		return f.format.damaged(s.name, errOtherContent)
	}
	f.info.Format = f.format.name
	f.open, err = f.format.examine(f, s, o)
	return err
}

type beginning struct {
	name  string
	src   io.Reader
	data  []byte
	whole bool // data is the whole stream
}

// grow reads until the sample has size bytes, or the whole stream. It is not called for the whole stream.
func (s *beginning) grow(size int) error {
	more, err := io.ReadAll(io.LimitReader(s.src, int64(size-len(s.data))))
	s.data = append(s.data, more...)
	if err != nil {
		return &ReadError{s.name, lineEnds(s.data) + 1, err}
	}
	s.whole = len(s.data) < size
	return nil
}

func (s *beginning) canGrow() bool { return !s.whole && len(s.data) < sampleLimit }

// lines returns the whole lines of the sample.
func (s *beginning) lines() []byte {
	if s.whole {
		return s.data
	}
	return s.data[:bytes.LastIndexAny(s.data, "\r\n")+1]
}

// andRest returns the whole stream, including the sample.
func (s *beginning) andRest() io.Reader {
	if s.whole {
		return bytes.NewReader(s.data)
	}
	return io.MultiReader(bytes.NewReader(s.data), s.src)
}
