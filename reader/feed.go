package reader

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

var feedFormat = inputFormat{
	name:        "xml",
	extensions:  []string{".xml", ".rss", ".atom"},
	content:     "a feed of products, as RSS or Atom",
	moreColumns: true,
	marked:      true,
	fit:         fitFeed,
	examine:     examineFeed,
}

// fitFeed recognizes XML. examineFeed refuses XML that is not a feed.
func fitFeed(s *beginning, _ *Options) fit {
	text := bytes.TrimLeft(s.data, jsonSpace)
	for _, start := range []string{"<?xml", "<rss", "<feed"} {
		if bytes.HasPrefix(text, []byte(start)) {
			return sureFit
		}
	}
	return noFit
}

// googleNamespace is the namespace of Google's product feeds, whose elements are columns such as g:title.
const googleNamespace = "http://base.google.com/ns/1.0"

// items are the names of record elements in RSS and Atom, by the name of the root element.
var items = map[string]string{"rss": "item", "RDF": "item", "feed": "entry"}

// mostNested is the deepest nesting of elements within a record.
const mostNested = 20

var (
	errLongItem   = errors.New("an item of the feed is longer than 1 MiB")
	errNestedItem = fmt.Errorf("an item of the feed has more than %d elements in each other", mostNested)
	errAfterFeed  = errors.New("broken XML: an element after the end of the feed")
)

// feedSource reads the records of a feed as JSON objects. Only the entities of HTML are valid: no entity is fetched or expands to
// long text.
type feedSource struct {
	decoder  *xml.Decoder
	bounded  *boundedReader
	prefixes map[string]string // by namespace
	root     xml.Name
	depth    int // number of open elements
}

func newFeedSource(src io.Reader) *feedSource {
	s := &feedSource{bounded: &boundedReader{Reader: bufio.NewReaderSize(src, readSize)}, prefixes: map[string]string{googleNamespace: "g:"}}
	s.decoder = xml.NewDecoder(s.bounded)
	s.decoder.Entity = xml.HTMLEntity
	s.decoder.CharsetReader = func(_ string, text io.Reader) (io.Reader, error) { return text, nil } // the text is decoded
	return s
}

func (s *feedSource) at() int64 {
	line, _ := s.decoder.InputPos()
	return int64(line)
}

func (s *feedSource) value() (r row, object []byte, err error) {
	s.bounded.left = maxRecord
	for {
		token, err := s.decoder.Token()
		if err != nil {
			return r, nil, brokenXML(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch {
			case s.depth == 0 && s.root.Local != "":
				return r, nil, errAfterFeed
			case s.depth == 0:
				s.root = token.Name
			case token.Name.Local == items[s.root.Local]:
				r.line = s.at()
				object, err = s.element(token, 0)
				return r, object, brokenXML(err)
			}
			s.note(token)
			s.depth++
		case xml.EndElement:
			s.depth--
		}
	}
}

// note records the prefixes of namespaces. The namespace of the root element has no prefix.
func (s *feedSource) note(start xml.StartElement) {
	for _, a := range start.Attr {
		if a.Name.Space == "xmlns" && s.prefixes[a.Value] == "" {
			s.prefixes[a.Value] = a.Name.Local + ":"
		}
	}
	if s.depth == 0 {
		s.prefixes[start.Name.Space] = ""
	}
}

// feedObject is a JSON object that keeps the order of its members.
type feedObject struct {
	names  []string
	values map[string][][]byte // the content of the elements with a name, as JSON: strings or objects
}

// add adds an element. Several elements with one name are a list.
func (o *feedObject) add(name string, value []byte) {
	if o.values == nil {
		o.values = map[string][][]byte{}
	}
	if o.values[name] == nil {
		o.names = append(o.names, name)
	}
	o.values[name] = append(o.values[name], value)
}

// encoded returns the object as JSON.
func (o *feedObject) encoded() []byte {
	text := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(appendQuoted(text, name), ':')
		if values := o.values[name]; len(values) == 1 {
			text = append(text, values[0]...)
		} else {
			text = append(append(append(text, '['), bytes.Join(values, []byte{','})...), ']')
		}
	}
	return append(text, '}')
}

// element returns the content of an element whose start is consumed, as JSON.
func (s *feedSource) element(start xml.StartElement, nested int) ([]byte, error) {
	if nested > mostNested {
		return nil, errNestedItem
	}
	s.note(start)
	var text strings.Builder
	object := feedObject{}
	for {
		token, err := s.decoder.Token()
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			value, err := s.element(token, nested+1)
			if err != nil {
				return nil, err
			}
			object.add(s.nameOf(token.Name), value)
		case xml.EndElement:
			if len(object.names) > 0 || nested == 0 {
				return object.encoded(), nil
			}
			return appendQuoted(nil, textOf(start, text.String())), nil
		}
	}
}

// nameOf returns the column name of an element.
func (s *feedSource) nameOf(name xml.Name) string {
	prefix, known := s.prefixes[name.Space]
	if !known {
		prefix = name.Space + ":" // an undeclared prefix
	}
	return prefix + name.Local
}

// textOf returns the text of an element, or else its attribute href, as in Atom links.
func textOf(start xml.StartElement, text string) string {
	text = strings.TrimSpace(text)
	for _, a := range start.Attr {
		if text == "" && a.Name.Local == "href" {
			text = a.Value
		}
	}
	return text
}

func brokenXML(err error) error {
	syntax, ok := errors.AsType[*xml.SyntaxError](err)
	switch {
	case errors.Is(err, errLongToken):
		return errLongItem
	case !ok:
		return err
	case syntax.Msg == "unexpected EOF":
		return fmt.Errorf("broken XML: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("broken XML: %s", syntax.Msg)
}

// examineFeed finds the columns in the first records.
func examineFeed(f *file, s *beginning, o *Options) (opener, error) {
	if s.canGrow() {
		if err := s.grow(sampleLimit); err != nil {
			return nil, err
		}
	}
	source := newFeedSource(bytes.NewReader(s.data))
	err := f.setObjects(o, source)
	if items[source.root.Local] == "" {
		return nil, &UnsupportedError{s.name, "an XML document other than RSS and Atom", convert}
	}
	return openFeed, err
}

func openFeed(r *Reader, f *file, s *stream) (parser, error) {
	return newJSONParser(r, f, newFeedSource(s.text), "item"), nil
}
