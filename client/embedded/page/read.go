package page

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// The limits, in bytes, on the parts of a Page. Honest pages stay under them;
// they are there for pages that repeat a keyword ten thousand times.
const (
	maxTitle       = 512
	maxDescription = 2 << 10
	maxKeywords    = 1 << 10
	maxHeading     = 256
	maxHeadings    = 40  // a count
	maxAlt         = 256 // the alternative text of an image
	maxText        = 32 << 10
	maxURL         = 2 << 10

	// maxToken bounds the memory of one tag or one stretch of text, such as an
	// inline script. A longer one ends the reading: the page is what came before.
	maxToken = 2 << 20
)

// maxRefreshDelay, in seconds, tells a page that sends its visitors on from one
// that reloads itself every few minutes.
const maxRefreshDelay = 5

// Page is what a page says of its site. White space is folded throughout.
type Page struct {
	Title         string
	Description   string   // <meta name="description">
	Keywords      string   // <meta name="keywords">
	OGTitle       string   // <meta property="og:title">
	OGDescription string   // <meta property="og:description">
	Headings      []string // h1 to h3, in order, at most 40
	Text          string   // what a visitor reads, without navigation and footer
	Refresh       string   // where a meta refresh of at most 5 s leads, as written
}

// Read reads the HTML in r. The character set is that of the byte order mark,
// of contentType (a Content-Type header; may be empty), or of the page's own
// meta element, in this order. Every input reads as some Page; the error is
// that of r, and the Page then holds what came before it.
func Read(r io.Reader, contentType string) (Page, error) {
	z := html.NewTokenizer(decode(r, contentType))
	z.SetMaxBuf(maxToken)
	s := newScanner()
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		s.token(z, kind)
	}
	if err := z.Err(); err != io.EOF && err != html.ErrBufferExceeded {
		return s.page(), err
	}
	return s.page(), nil
}

// decode turns r into UTF-8. Unlike charset.NewReader it leaves r's error where
// it stands: that one takes a message cut off in its first bytes for a whole one.
func decode(r io.Reader, contentType string) io.Reader {
	buffered := bufio.NewReader(r)
	head, _ := buffered.Peek(1024) // as much as the HTML standard looks at
	enc, _, _ := charset.DetermineEncoding(head, contentType)
	if enc == encoding.Nop {
		return buffered
	}
	return enc.NewDecoder().Reader(buffered)
}

// meta takes note of one meta element. The first of a kind counts, as it does
// for search engines.
func (p *Page) meta(attrs map[string]string) {
	content := attrs["content"]
	name := strings.ToLower(strings.TrimSpace(attrs["name"]))
	if name == "" {
		name = strings.ToLower(strings.TrimSpace(attrs["property"]))
	}
	switch name {
	case "description":
		setOnce(&p.Description, content, maxDescription)
	case "keywords":
		setOnce(&p.Keywords, content, maxKeywords)
	case "og:title":
		setOnce(&p.OGTitle, content, maxTitle)
	case "og:description":
		setOnce(&p.OGDescription, content, maxDescription)
	}
	if strings.EqualFold(attrs["http-equiv"], "refresh") && p.Refresh == "" {
		p.Refresh = refreshURL(content)
	}
}

func setOnce(field *string, text string, max int) {
	if *field == "" {
		*field = fold(text, max)
	}
}

// refreshURL reads `5; url='https://example.com/'`, and returns "" where the
// delay is longer than maxRefreshDelay or the page means itself.
func refreshURL(content string) string {
	end := strings.IndexAny(content, ";,")
	if end < 0 {
		return ""
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(content[:end]), 64)
	if err != nil || !(seconds <= maxRefreshDelay) { // NaN too
		return ""
	}
	key, target, ok := strings.Cut(content[end+1:], "=")
	if !ok || !strings.EqualFold(strings.TrimSpace(key), "url") || len(target) > maxURL {
		return ""
	}
	return strings.Trim(strings.TrimSpace(target), `'"`)
}
