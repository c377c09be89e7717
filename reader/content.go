package reader

import (
	"bytes"
	"fmt"
	"strings"
)

// UnsupportedError says that an input is not a list, or not in a supported format. [Open] returns it, before the first record.
type UnsupportedError struct {
	File   string
	Kind   string // the kind of content, such as "a zip archive"
	Advice string // how to make a list from the input
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is %s, not a list; %s", displayName(e.File), e.Kind, e.Advice)
}

// signature identifies a kind of file by its content. Text can begin with the letters of some signatures ("PAR16 lamp"). Such
// signatures are binary: the first headSize bytes must also have a control character.
type signature struct {
	offset int
	magic  string
	binary bool // the first headSize bytes have a control character
	kind   string
	advice string
}

// headSize is the number of bytes that signatures look at. The signature of tar ends at 262.
const headSize = 512

const (
	unpack  = "unpack it and name the files"
	convert = "convert it to CSV, JSONL or Parquet"
	asText  = "extract the list as CSV, JSONL or text"
)

var signatures = []signature{
	{30, "mimetypeapplication/vnd.oasis.opendocument", false, "an OpenDocument file, such as .ods", "save it as CSV or .xlsx"},
	{0, zipMagic, false, "a zip archive", "unpack it and name the files: an archive is read only from a file, if it is whole and has one list; an Excel file needs a name that ends in .xlsx, and no further compression"},
	{0, "PK\x05\x06", false, "an empty zip archive", unpack},
	{0, "7z\xbc\xaf\x27\x1c", false, "a 7z archive", unpack},
	{0, "Rar!\x1a\x07", false, "a rar archive", unpack},
	{257, "ustar", false, "a tar archive", unpack},
	{0, "BZh", true, "a bzip2 file", "unpack it with bunzip2, or compress it with gzip or zstd"},
	{0, "\xfd7zXZ\x00", false, "an xz file", "unpack it with unxz, or compress it with gzip or zstd"},
	{0, "\x04\x22\x4d\x18", false, "an lz4 file", "unpack it with unlz4, or compress it with gzip or zstd"},
	{0, "SQLite format 3\x00", false, "an SQLite database", "export the table, for example with sqlite3 -header -csv FILE 'SELECT * FROM table'"},
	{0, "Obj\x01", false, "an Avro file", convert},
	{0, "ORC", true, "an ORC file", convert},
	{0, "ARROW1", true, "an Arrow file", convert},
	{0, "\x89HDF\r\n\x1a\n", false, "an HDF5 file", convert},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", false, "an old Office file (.xls) or has a password", "save it as CSV or as .xlsx without a password"},
	{0, "%PDF-", false, "a PDF document", asText},
	{0, "{\\rtf", false, "an RTF document", asText},
	{0, "<!DOCTYPE", false, "a web page", "fetch the list itself"},
	{0, "<!doctype", false, "a web page", "fetch the list itself"},
	{0, "<html", false, "a web page", "fetch the list itself"},
	{0, "\x89PNG\r\n\x1a\n", false, "an image", asText},
	{0, "\xff\xd8\xff", false, "an image", asText},
	{0, "GIF8", true, "an image", asText},
	{0, "II*\x00", false, "an image", asText},
	{0, "MM\x00*", false, "an image", asText},
	{0, "BM", true, "an image", asText},
	{8, "WEBP", true, "an image", asText},
	{0, parquetMagic, true, "a Parquet file in a pipe or compressed", "name an uncompressed file: Parquet is read from its end"},
	{0, "PARE", true, "an encrypted Parquet file", "decrypt it"},
}

// headOf returns the first bytes of a file; nil for a pipe or a device.
func headOf(body Source, size int64) []byte {
	if size < 0 {
		return nil
	}
	head := make([]byte, headSize)
	n, _ := body.ReadAt(head, 0) // the next Read returns an error met here
	return head[:n]
}

// refuse returns an *UnsupportedError if the first bytes of a file have a signature.
func refuse(file string, head []byte) error {
	head = head[:min(len(head), headSize)]
	for _, s := range signatures {
		if len(head) >= s.offset && bytes.HasPrefix(head[s.offset:], []byte(s.magic)) && (!s.binary || controls(head) > 0) {
			return &UnsupportedError{file, s.kind, s.advice}
		}
	}
	return nil
}

const (
	// fewControls is a number of control characters that text may have by accident.
	fewControls = 8
	// textPerControl is the least number of bytes per control character in text. Compressed data have 10.
	textPerControl = 16
)

// refuseBinary returns an *UnsupportedError if decoded text has as many control characters as binary data. Text in an unknown
// encoding has few, and its rows are malformed one by one.
func refuseBinary(file string, text []byte) error {
	if n := controls(text); n > fewControls && n*textPerControl > len(text) {
		return &UnsupportedError{file, "binary data", convert}
	}
	return nil
}

// controls returns the number of control characters, except the control characters that occur in text.
func controls(text []byte) int {
	n := 0
	for _, b := range text {
		if b < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1a\x1b", rune(b)) || b == 0x7f {
			n++
		}
	}
	return n
}
