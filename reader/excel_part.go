package reader

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxDepth is the deepest nesting of elements in a part. Worksheets of Excel have about 15 levels.
	maxDepth = 64
	// A part is a zip bomb, which would take minutes to read, if it has more than bombSize bytes and more than bombRatio times
	// its size in the archive. A sheet of a million equal rows has a ratio of 30.
	bombSize  = 32 << 20
	bombRatio = 200
)

var (
	errLongToken = errors.New("a tag or a text is longer than 1 MiB")
	errDeep      = fmt.Errorf("more than %d elements inside each other", maxDepth)
)

// xmlPart reads the XML of one part of an Excel file, and bounds the length of tokens and the depth. The level of the root
// element is 1.
type xmlPart struct {
	name    string
	body    io.ReadCloser
	bounded *boundedReader
	decoder *xml.Decoder
	level   int // of the current element; 0 outside the root
}

// boundedReader returns an error once left bytes are read. Otherwise the decoder would hold a token of any length in memory.
type boundedReader struct {
	*bufio.Reader
	left int
}

func (b *boundedReader) ReadByte() (byte, error) {
	if b.left == 0 {
		return 0, errLongToken
	}
	b.left--
	return b.Reader.ReadByte()
}

// openXMLPart opens a part, and reads the start of its root element, whose name must be root.
func openXMLPart(f *zip.File, root string) (*xmlPart, error) {
	if f.UncompressedSize64 > bombSize && f.UncompressedSize64/bombRatio > f.CompressedSize64 {
		return nil, fmt.Errorf("%s: it is a zip bomb, and has %d times its size unzipped", f.Name, f.UncompressedSize64/max(f.CompressedSize64, 1))
	}
	body, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	text, _ := decode(bufio.NewReaderSize(body, readSize), "", nil)
	p := &xmlPart{name: f.Name, body: body, bounded: &boundedReader{Reader: bufio.NewReaderSize(text, readSize)}}
	p.decoder = xml.NewDecoder(p.bounded)
	p.decoder.CharsetReader = sameCharset
	e, _, err := p.child(0)
	switch {
	case err == io.EOF:
		err = fmt.Errorf("%s: it has no content", p.name)
	case err == nil && e.Name.Local != root:
		err = &rootError{p.name, e.Name.Local, root}
	}
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	return p, nil
}

// rootError says that a part has another root element than its relationship says.
type rootError struct{ part, root, want string }

func (e *rootError) Error() string {
	return fmt.Sprintf("%s: its root is %s, want %s", e.part, e.root, e.want)
}

// sameCharset accepts the encodings of parts, UTF-8 and UTF-16 (ECMA-376 part 2). The input is decoded already.
func sameCharset(label string, input io.Reader) (io.Reader, error) {
	label = strings.ToLower(label)
	if label == "us-ascii" || strings.HasPrefix(label, "utf-16") {
		return input, nil
	}
	return nil, fmt.Errorf("the encoding %q is neither UTF-8 nor UTF-16", label)
}

func (p *xmlPart) Close() error { return p.body.Close() }

// token returns the next token, which is valid until the next call. It returns io.EOF at the end of the part, if its checksum
// is right.
func (p *xmlPart) token() (xml.Token, error) {
	p.bounded.left = maxRecord
	t, err := p.decoder.Token()
	switch t.(type) {
	case xml.StartElement:
		p.level++
		if p.level > maxDepth {
			err = errDeep
		}
	case xml.EndElement:
		p.level--
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return t, err
}

// child returns the next child of the current element at a level. It skips the rest of the previous child. more is false at the
// end of the element.
func (p *xmlPart) child(level int) (e xml.StartElement, more bool, err error) {
	for {
		t, err := p.token()
		if err == io.EOF && level > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return e, false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if p.level == level+1 {
				return t, true, nil
			}
		case xml.EndElement:
			if p.level < level {
				return e, false, nil
			}
		}
	}
}

// each calls read for each child of the current element, and consumes the element.
func (p *xmlPart) each(read func(e xml.StartElement) error) error {
	level := p.level
	for {
		e, more, err := p.child(level)
		if err != nil || !more {
			return err
		}
		if err := read(e); err != nil {
			return err
		}
	}
}

// text appends the text of the current element without the text of its children, and consumes the element.
func (p *xmlPart) text(text []byte) ([]byte, error) {
	level := p.level
	for {
		t, err := p.token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.CharData:
			if p.level != level {
				continue
			}
			if text = append(text, t...); len(text) > maxRecord {
				return nil, fmt.Errorf("%s: %w", p.name, errLongToken)
			}
		case xml.EndElement:
			if p.level < level {
				return text, nil
			}
		}
	}
}

// end reads the part to its end, after the end of the root.
func (p *xmlPart) end() error {
	switch e, _, err := p.child(0); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("%s: the element %s follows the end", p.name, e.Name.Local)
	}
}

// attribute returns the value of an attribute; "" for none.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}
