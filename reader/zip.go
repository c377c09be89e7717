package reader

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"
)

// zippedTable is the table in a zip archive. Its bytes are contiguous, so it is read as a stream.
type zippedTable struct {
	name   string // in the archive
	offset int64  // of the compressed bytes
	header zip.FileHeader
}

// tableIn returns the table in a zip archive; nil for other content. The error is an *UnsupportedError.
func tableIn(file string, head []byte, body Source, size int64) (*zippedTable, error) {
	if !bytes.HasPrefix(head, []byte(zipMagic)) {
		return nil, nil
	}
	archive, err := zip.NewReader(body, size)
	if err != nil || len(archive.File) == 0 || archive.File[0].Name == "mimetype" { // an empty archive, or a document
		return nil, nil
	}
	tables := slices.DeleteFunc(slices.Clone(archive.File), func(f *zip.File) bool { return f.FileInfo().IsDir() || isAside(f.Name) })
	if len(tables) > 1 {
		tables = slices.DeleteFunc(tables, func(f *zip.File) bool { return formatByName(f.Name) == nil })
	}
	refuse := func(kind string) (*zippedTable, error) { return nil, &UnsupportedError{file, kind, unpack} }
	switch {
	case len(tables) == 0:
		return refuse("a zip archive without a list")
	case len(tables) > 1:
		var names []string
		for _, f := range tables[:min(len(tables), columnsShown)] {
			names = append(names, f.Name)
		}
		return refuse("a zip archive of several lists (" + strings.Join(names, ", ") + ")")
	}
	table := tables[0]
	offset, err := table.DataOffset()
	switch {
	case err != nil:
		return nil, nil
	case table.Flags&1 != 0:
		return refuse("a zip archive with a password")
	case table.Method != zip.Store && table.Method != zip.Deflate:
		return refuse("a zip archive with an unusual compression")
	}
	return &zippedTable{table.Name, offset, table.FileHeader}, nil
}

// isAside reports whether a file in an archive is not a table: the file is hidden, or explains the other files.
func isAside(name string) bool {
	segments := strings.Split(strings.ReplaceAll(name, `\`, "/"), "/")
	if slices.ContainsFunc(segments, isHidden) {
		return true
	}
	base := strings.ToLower(segments[len(segments)-1])
	return slices.Contains([]string{"readme", "license", "licence", "changelog"}, strings.TrimSuffix(base, path.Ext(base)))
}

// open returns the unzipped bytes. The source is the whole archive.
func (a *zippedTable) open(src io.Reader) (io.Reader, error) {
	if _, err := io.CopyN(io.Discard, src, a.offset); err != nil {
		return nil, err
	}
	data := io.LimitReader(src, int64(a.header.CompressedSize64))
	if a.header.Method == zip.Deflate {
		data = flate.NewReader(bufio.NewReaderSize(data, readSize))
	}
	return &checkedReader{src: data, hash: crc32.NewIEEE(), left: a.header.UncompressedSize64, want: a.header.CRC32}, nil
}

// checkedReader checks the length and the checksum of the bytes that it has read.
type checkedReader struct {
	src  io.Reader
	hash hash.Hash32
	left uint64
	want uint32
}

var errChecksum = errors.New("the archive is damaged: the checksum of the list is wrong")

func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.hash.Write(p[:n])
	switch {
	case uint64(n) > c.left:
		return 0, errChecksum
	case err == io.EOF && uint64(n) < c.left:
		err = io.ErrUnexpectedEOF
	case err == io.EOF && c.hash.Sum32() != c.want:
		err = errChecksum
	}
	c.left -= uint64(n)
	return n, err
}
