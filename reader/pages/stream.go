package pages

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// streamBuffer is the size of the read buffers of a column chunk in bytes. Longer pages are read without them.
const streamBuffer = 8 << 10

// stream is a column chunk whose pages are not compressed. The library reads it in order, or again from the beginning.
type stream struct {
	file    *File
	meta    footerMetadata
	name    string
	kind    format.Type
	width   int // of a value in bits; 0 for byte arrays
	levels  [2]int
	group   int   // 1-based
	rowsDue int64 // of the row group

	in  *bufio.Reader
	pos int64 // of the next byte of in, in the file
	at  int64 // the offset of the next byte to return

	head, body   []byte // what is left of the header and of the page that is returned
	page         page
	split        splitting // the page whose parts are next
	dictionary   int64     // its size in bytes; -1 before there is one
	values, rows int64     // of the pages before
	reserved     int64     // bytes that count for the file
	err          error
}

func newStream(c *chunk) *stream {
	element, column, group := c.file.leaves[c.column], c.Node().(*parquet.Column), c.file.meta.RowGroups[c.group]
	s := &stream{
		file: c.file, meta: group.Columns[c.column].Meta, name: strings.Join(column.Path(), "."), kind: element.Type.V,
		width: widths[element.Type.V], levels: [2]int{column.MaxRepetitionLevel(), column.MaxDefinitionLevel()},
		group: c.group + 1, rowsDue: group.NumRows,
	}
	if s.kind == format.FixedLenByteArray {
		s.width = 8 * int(element.TypeLength.V)
	}
	return s
}

// ReadAt returns the next bytes of the pages.
func (s *stream) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset == 0 && (s.in == nil || s.at > 0) {
		first := s.meta.DataPage
		if d := s.meta.DictionaryPage; d > 0 {
			first = min(first, d)
		}
		s.seek(first, streamBuffer)
		s.at, s.head, s.body, s.split, s.dictionary, s.values, s.rows = 0, nil, nil, splitting{}, -1, 0, 0
	}
	if s.err == nil && offset != s.at {
		s.err = fmt.Errorf("read at %d, not %d", offset, s.at)
	}
	for s.err == nil && len(s.head) == 0 && len(s.body) == 0 {
		if s.split.left > 0 {
			s.err = s.placed(s.nextPart())
			continue
		}
		if s.values >= s.meta.NumValues {
			return 0, io.EOF
		}
		s.err = s.placed(s.nextPage())
	}
	if s.err != nil {
		return 0, s.err
	}
	n = copy(p, s.head)
	s.head = s.head[n:]
	more := copy(p[n:], s.body)
	s.body = s.body[more:]
	s.at += int64(n + more)
	return n + more, nil
}

func (s *stream) seek(to int64, buffer int) {
	s.pos = to
	section := io.NewSectionReader(s.file.body, to, max(s.file.end-to, 0))
	if s.in == nil || s.in.Size() != buffer {
		s.in = bufio.NewReaderSize(section, buffer)
	} else {
		s.in.Reset(section)
	}
}

// placed adds the place to an error of the content. The end of the input is not the end of the rows, so io.EOF is not wrapped.
func (s *stream) placed(err error) error {
	_, source := errors.AsType[*sourceError](err)
	_, unsupported := errors.AsType[*UnsupportedError](err)
	if err == nil || source || unsupported || errors.Is(err, ErrDamaged) {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = errors.New(err.Error())
	}
	return damagedf("row group %d, column %q: %w", s.group, s.name, err)
}

// sourceError is an error of the file system or of a network. The file may be intact.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// cut returns the error for a read of less than a whole page.
func cut(err error) error {
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		return io.ErrUnexpectedEOF
	}
	return &sourceError{err}
}

// nextPage reads a page, and sets head and body unless it is one to skip.
func (s *stream) nextPage() error {
	h, err := s.header()
	if err != nil {
		return err
	}
	s.page = pageOf(h)
	isDictionary := h.Type == format.DictionaryPage
	switch {
	case h.UncompressedPageSize < 0 || h.CompressedPageSize < 0:
		return errors.New("a page has a negative size")
	case s.page.n == 0 && !isDictionary: // or of another type
		n, err := s.in.Discard(int(h.CompressedPageSize))
		if s.pos += int64(n); err != nil {
			return cut(err)
		}
		return nil
	case s.page.n < 0 || !isDictionary && int64(s.page.n) > s.meta.NumValues-s.values:
		return fmt.Errorf("a page has %d values, and the metadata has %d in all", s.page.n, s.meta.NumValues)
	}
	if s.body, err = s.readBody(h); err == nil {
		err = s.checkBody(h)
	}
	if err != nil {
		return err
	}
	if !isDictionary {
		s.values += int64(s.page.n)
	}
	if s.split.left > 0 {
		return s.nextPart()
	}
	return s.emit(h)
}

// emit sets head for body.
func (s *stream) emit(h *format.PageHeader) (err error) {
	h.UncompressedPageSize, h.CRC = int32(len(s.body)), 0
	h.CompressedPageSize = h.UncompressedPageSize
	h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
	s.head, err = thrift.Marshal(new(thrift.CompactProtocol), h)
	return err
}

// header reads the header of the next page.
func (s *stream) header() (*format.PageHeader, error) {
	for size := streamBuffer; ; size *= 4 {
		data, err := s.in.Peek(size)
		if err != nil && err != io.EOF {
			return nil, cut(err)
		}
		h := new(format.PageHeader)
		n, thriftErr := unmarshal(data, h)
		if thriftErr == nil {
			s.pos += int64(n)
			_, err := s.in.Discard(n)
			return h, err
		}
		if thriftErr != io.ErrUnexpectedEOF || err == io.EOF || size >= maxHeader {
			return nil, fmt.Errorf("the header of a page: %w", thriftErr)
		}
		s.seek(s.pos, size*4)
	}
}

// readBody reads a page, checks its sizes and its checksum, and decompresses it.
func (s *stream) readBody(h *format.PageHeader) ([]byte, error) {
	size, compressed, levels := int64(h.UncompressedPageSize), int64(h.CompressedPageSize), int64(0)
	packed := s.meta.Codec != format.Uncompressed
	if v2 := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		r, d := v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength
		if levels = int64(r) + int64(d); r < 0 || d < 0 || levels > min(size, compressed) {
			return nil, fmt.Errorf("the levels of a page have %d and %d bytes, and the page has %d", r, d, size)
		}
		packed = packed && (!v2.IsCompressed.Valid || v2.IsCompressed.V)
	}
	if compressed > s.file.end-s.pos || !packed && size != compressed {
		return nil, fmt.Errorf("a page has %d bytes, %d of them compressed", size, compressed)
	}
	if err := s.reserve(max(size, compressed)); err != nil {
		return nil, err
	}
	raw := make([]byte, compressed)
	n, err := io.ReadFull(s.in, raw)
	s.pos += int64(n)
	switch {
	case err != nil:
		return nil, cut(err)
	case h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(raw):
		return nil, errors.New("a page does not have its checksum")
	case !packed:
		return raw, nil
	}
	body := make([]byte, size)
	copy(body, raw[:levels])
	to, from := body[levels:], raw[levels:]
	if len(to) == 0 && len(from) == 0 { // a page of nulls may have no values, not even compressed ones
		return body, nil
	}
	filled, err := codecs[s.meta.Codec](to, from)
	if err != nil {
		return nil, fmt.Errorf("a page cannot be decompressed: %w", err)
	}
	if filled != len(to) {
		return nil, fmt.Errorf("a page does not have the %d bytes of its header", size)
	}
	return body, nil
}

// streamMemory is the memory of a column that is read, without its pages, in bytes: the buffers of the stream and of the
// library, and the values that a caller takes at once.
const streamMemory = 40 << 10

// reserve counts the current page for the file, and the dictionary. The error is that of too much memory.
func (s *stream) reserve(page int64) error {
	if page > maxPage {
		return &UnsupportedError{s.name, fmt.Sprintf("has a page of %d MiB, more than %d", page>>20, maxPage>>20),
			"write the file with smaller pages or row groups"}
	}
	total := max(s.dictionary, 0) + page + streamMemory
	reserved := s.file.reserved.Add(total - s.reserved)
	s.reserved = total
	if reserved <= maxReserved {
		return nil
	}
	return &UnsupportedError{s.name, fmt.Sprintf("and the others need more than %d MiB for their pages", maxReserved>>20),
		"write the file with smaller pages or row groups, or name the columns that are needed"}
}

// checkedPages are the pages of a stream.
type checkedPages struct {
	*parquet.FilePages
	stream *stream
}

// ReadPage returns the next page; io.EOF after the last one if the column has all of its values and rows.
func (p *checkedPages) ReadPage() (parquet.Page, error) {
	s := p.stream
	page, err := p.read()
	switch {
	case s.err != nil: // the library may have taken it for the end
		return nil, s.err
	case err == io.EOF && s.values != s.meta.NumValues:
		err = fmt.Errorf("%d values, and the metadata has %d", s.values, s.meta.NumValues)
	case err == io.EOF && s.rows != s.rowsDue:
		err = fmt.Errorf("%d rows, and the row group has %d", s.rows, s.rowsDue)
	case err == io.EOF:
		return nil, err
	case err == nil:
		s.rows += page.NumRows()
		present := int(page.NumValues() - page.NumNulls())
		if page.NumValues() != int64(s.page.n) || present < s.page.least || present > s.page.most {
			err = errFewer
		}
	}
	return page, s.placed(err)
}

// read turns a panic of the library into an error.
func (p *checkedPages) read() (page parquet.Page, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	return p.FilePages.ReadPage()
}

func (p *checkedPages) Close() error {
	p.stream.file.reserved.Add(-p.stream.reserved)
	p.stream.reserved = 0
	return p.FilePages.Close()
}
