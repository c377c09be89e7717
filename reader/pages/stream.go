package pages

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// streamBuffer is the size of the read buffers of a column chunk in bytes. Longer pages are read without them.
const streamBuffer = 8 << 10

// stream is a column chunk with pages that are not compressed and have been checked. It is read in order, or again from
// the beginning, by the library.
type stream struct {
	file    *File
	meta    footerMetadata
	leaf    leaf
	group   int   // 1-based
	rowsDue int64 // of the row group

	in  *bufio.Reader
	pos int64 // of the next byte of in, in the file

	at            int64      // the offset of the next byte to return
	head          []byte     // what is left of the header of the next page
	page          page       // whose body is next
	open          bool       // there is such a page
	rewritten     []byte     // its body, if that is in memory
	parts         *splitting // the page whose parts are next; nil for none
	raw           []byte     // memory for compressed pages
	hasDictionary bool       // the dictionary was read
	dictionary    int64      // its size in bytes
	values, rows  int64      // of the pages before
	reserved      int64      // bytes that count for the file
	err           error
}

// page is a page whose header was read.
type page struct {
	format.PageHeader
	levels  int // bytes before the values that are not compressed, as in data pages of version 2
	packed  bool
	first   int // the offset of the values in the page, and the number of values that are not null
	present int
}

func newStream(c *chunk) *stream {
	group := c.file.meta.RowGroups[c.group]
	return &stream{file: c.file, meta: group.Columns[c.column].Meta, leaf: newLeaf(c), group: c.group + 1, rowsDue: group.NumRows}
}

// damaged adds the place to an error of the content. The end of the input is not the end of the rows, so io.EOF is not wrapped.
func (s *stream) damaged(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = errors.New(err.Error())
	}
	return damagedf("row group %d, column %q: %w", s.group, s.leaf.name, err)
}

// atEnd returns io.EOF, or an error if values are missing.
func (s *stream) atEnd() error {
	switch {
	case s.values != s.meta.NumValues:
		return s.damaged(fmt.Errorf("%d values, and the metadata has %d", s.values, s.meta.NumValues))
	case s.rows != s.rowsDue:
		return s.damaged(fmt.Errorf("%d rows, and the row group has %d", s.rows, s.rowsDue))
	}
	return io.EOF
}

// ReadAt returns the header of a page, and then its whole body. It returns less than the library asks for, which reads
// through a buffer: the body is then decompressed into the library's own memory.
func (s *stream) ReadAt(p []byte, offset int64) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.read(p, offset)
	if err != nil {
		n = 0 // the library would use the bytes of a damaged page, and drop the error
	}
	if err != nil && err != io.EOF {
		_, unsupported := errors.AsType[*UnsupportedError](err)
		if _, source := errors.AsType[*sourceError](err); !source && !unsupported {
			err = s.damaged(err)
		}
		s.err = err
	}
	s.at += int64(n)
	return n, err
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

func (s *stream) read(p []byte, offset int64) (n int, err error) {
	if offset == 0 && (s.in == nil || s.at > 0) {
		s.rewind()
	}
	if offset != s.at {
		return 0, fmt.Errorf("read at %d, not %d", offset, s.at)
	}
	if len(s.head) == 0 && !s.open {
		if err := s.nextPage(); err != nil {
			return 0, err
		}
	}
	if len(s.head) > 0 {
		n = copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	n = int(s.page.UncompressedPageSize)
	if n > len(p) {
		return 0, fmt.Errorf("%d bytes for a page of %d", len(p), n)
	}
	if s.rewritten != nil {
		copy(p, s.rewritten)
		s.open, s.rewritten = false, nil
		return n, nil
	}
	return n, s.body(p[:n])
}

// rewind begins with the first page.
func (s *stream) rewind() {
	first := s.meta.DataPage
	if d := s.meta.DictionaryPage; d > 0 && d < first {
		first = d
	}
	s.seek(first, streamBuffer)
	s.at, s.head, s.open, s.rewritten, s.parts, s.hasDictionary, s.dictionary, s.values, s.rows = 0, nil, false, nil, nil, false, 0, 0, 0
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

// nextPage reads the header of the next page that has values; io.EOF after the last value of the metadata.
func (s *stream) nextPage() error {
	if s.parts != nil {
		return s.nextPart()
	}
	for {
		if s.values >= s.meta.NumValues {
			return s.atEnd()
		}
		if err := s.header(); err != nil {
			return err
		}
		n, known := s.page.values()
		switch {
		case !known || n == 0 && s.page.Type != format.DictionaryPage:
			if err := s.skip(); err != nil {
				return err
			}
			continue
		case n < 0 || n > s.meta.NumValues-s.values && s.page.Type != format.DictionaryPage:
			return fmt.Errorf("a page has %d values, and the metadata has %d in all", n, s.meta.NumValues)
		case s.page.Type == format.DictionaryPage && (s.hasDictionary || s.values > 0):
			return errors.New("a dictionary after the first page")
		}
		if err := s.admit(); err != nil {
			return err
		}
		if s.splits() {
			if err := s.split(); err != nil {
				return err
			}
			return s.nextPart()
		}
		return s.begin()
	}
}

// begin makes the header of the page.
func (s *stream) begin() (err error) {
	if decode := s.decoder(); decode != nil {
		err = s.rewrite(decode)
	} else if s.page.UncompressedPageSize == 0 {
		err = s.body(nil) // the library does not ask for nothing
	}
	if err == nil {
		s.open = s.page.UncompressedPageSize > 0
		s.head, err = s.page.plain()
	}
	return err
}

// values returns the number of values of a page; known is false for pages of other types.
func (p *page) values() (n int64, known bool) {
	switch {
	case p.Type == format.DataPage && p.DataPageHeader.Valid:
		return int64(p.DataPageHeader.V.NumValues), true
	case p.Type == format.DataPageV2 && p.DataPageHeaderV2.Valid:
		return int64(p.DataPageHeaderV2.V.NumValues), true
	case p.Type == format.DictionaryPage && p.DictionaryPageHeader.Valid:
		return int64(p.DictionaryPageHeader.V.NumValues), true
	}
	return 0, p.Type != format.IndexPage
}

// encoding returns the encoding of the values of a data page, and PLAIN for other pages.
func (p *page) encoding() format.Encoding {
	switch p.Type {
	case format.DataPage:
		return p.DataPageHeader.V.Encoding
	case format.DataPageV2:
		return p.DataPageHeaderV2.V.Encoding
	}
	return format.Plain
}

// header reads the header of the next page.
func (s *stream) header() error {
	for size := streamBuffer; ; size *= 4 {
		data, err := s.in.Peek(size)
		if err != nil && err != io.EOF {
			return cut(err)
		}
		s.page = page{}
		n, thriftErr := unmarshal(data, &s.page.PageHeader)
		if thriftErr == nil {
			s.pos += int64(n)
			_, err := s.in.Discard(n)
			return err
		}
		if thriftErr != io.ErrUnexpectedEOF || err == io.EOF || size >= maxHeader {
			return fmt.Errorf("the header of a page: %w", thriftErr)
		}
		s.seek(s.pos, size*4)
	}
}

func (s *stream) skip() error {
	if s.page.CompressedPageSize < 0 {
		return errors.New("a page has a negative size")
	}
	n, err := s.in.Discard(int(s.page.CompressedPageSize))
	s.pos += int64(n)
	if err != nil {
		return cut(err)
	}
	return nil
}

// admit checks the sizes of the page, and counts its memory.
func (s *stream) admit() error {
	size, compressed := int64(s.page.UncompressedPageSize), int64(s.page.CompressedPageSize)
	s.page.packed = s.meta.Codec != format.Uncompressed
	if v2 := &s.page.DataPageHeaderV2; s.page.Type == format.DataPageV2 {
		repetition, definition := int64(v2.V.RepetitionLevelsByteLength), int64(v2.V.DefinitionLevelsByteLength)
		if repetition < 0 || definition < 0 || repetition+definition > min(size, compressed) {
			return fmt.Errorf("the levels of a page have %d and %d bytes, and the page has %d", repetition, definition, size)
		}
		s.page.levels = int(repetition + definition)
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			s.page.packed = false
		}
	}
	if size < 0 || compressed < 0 || compressed > s.file.end-s.pos || !s.page.packed && size != compressed {
		return fmt.Errorf("a page has %d bytes, %d of them compressed", size, compressed)
	}
	if err := s.limit(max(size, compressed)); err != nil {
		return err
	}
	if s.page.Type == format.DictionaryPage {
		return s.reserve(size, 0)
	}
	return s.reserve(s.dictionary, size)
}

// limit returns an error if a page takes more than maxPage bytes.
func (s *stream) limit(size int64) error {
	if size <= maxPage {
		return nil
	}
	return &UnsupportedError{s.leaf.name, fmt.Sprintf("has a page of %d MiB, more than %d", size>>20, maxPage>>20),
		"write the file with smaller pages or row groups"}
}

// streamMemory is the memory of a column that is read, without its pages, in bytes: the buffers of the stream and of the
// library, and the values that a caller takes at once.
const streamMemory = 24 << 10

// reserve counts the sizes of the dictionary and of the current page for the file.
func (s *stream) reserve(dictionary, size int64) error {
	s.dictionary = dictionary
	total := dictionary + size + streamMemory
	reserved := s.file.reserved.Add(total - s.reserved)
	s.reserved = total
	if reserved <= maxReserved {
		return nil
	}
	return &UnsupportedError{s.leaf.name, fmt.Sprintf("and the others need more than %d MiB for their pages", maxReserved>>20),
		"write the file with smaller pages or row groups, or name the columns that are needed"}
}

// release counts the column no longer.
func (s *stream) release() {
	s.file.reserved.Add(-s.reserved)
	s.reserved = 0
}

// plain returns the header of the page without compression.
func (p *page) plain() ([]byte, error) {
	h := format.PageHeader{
		Type: p.Type, UncompressedPageSize: p.UncompressedPageSize, CompressedPageSize: p.UncompressedPageSize,
		DataPageHeader: p.DataPageHeader, DictionaryPageHeader: p.DictionaryPageHeader, DataPageHeaderV2: p.DataPageHeaderV2,
	}
	h.DataPageHeader.V.Statistics = format.Statistics{}
	h.DataPageHeaderV2.V.Statistics = format.Statistics{}
	return thrift.Marshal(new(thrift.CompactProtocol), &h)
}

// body reads the page into p, and checks it.
func (s *stream) body(p []byte) error {
	s.open = false
	raw := p
	if s.page.packed {
		if n := int(s.page.CompressedPageSize); n > cap(s.raw) {
			s.raw = make([]byte, n)
		} else {
			s.raw = s.raw[:n]
		}
		raw = s.raw
	}
	n, err := io.ReadFull(s.in, raw)
	if s.pos += int64(n); err != nil {
		return cut(err)
	}
	if crc := s.page.CRC; crc != 0 && uint32(crc) != crc32.ChecksumIEEE(raw) {
		return errors.New("a page does not have its checksum")
	}
	if s.page.packed {
		copy(p, raw[:s.page.levels])
		// A page of nulls may have no values, not even compressed ones.
		if to, from := p[s.page.levels:], raw[s.page.levels:]; len(to) > 0 || len(from) > 0 {
			if err := codecs[s.meta.Codec](to, from); err != nil {
				return fmt.Errorf("a page cannot be decompressed: %w", err)
			}
		}
		if cap(s.raw) > keptRaw {
			s.raw = nil
		}
	}
	return s.checkBody(p)
}

// keptRaw is the most memory that a stream keeps for the next compressed page, in bytes.
const keptRaw = 4 << 20
