package page

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/html"
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

	// maxAside bounds the text set aside, and maxBanner what a banner says at
	// most: lists of partners and purposes are long, but not that long.
	maxAside  = maxText
	maxBanner = 8 << 10

	// maxToken bounds one stretch of text, such as an inline script, and maxTag
	// one tag, such as an image within it. A longer one ends the reading: the
	// page is what came before.
	maxToken = 2 << 20
	maxTag   = 1 << 20
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
	SiteName      string   // <meta property="og:site_name">, or the name of the schema.org organization
	Section       string   // of a newspaper: <meta property="article:section">, or schema.org articleSection
	Types         []string // what schema.org and og:type call it, in words: "Auto Repair"; none that fits any page
	Product       string   // the name of the first schema.org Product
	Category      string   // that Product's category
	Breadcrumb    []string // the names of the schema.org BreadcrumbList, but for the home page
	Headings      []string // h1 to h3, in order, at most 40
	Text          string   // what a visitor reads, without navigation, footer and banners
	Refresh       string   // where a meta refresh of at most 5 s leads, as written
	ParkedBy      string   // the domain parking service whose scripts or frames it shows
}

// buffers are readers that hold enough of a page to tell its character set by.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxHead) }}

// Read reads the HTML in r. The character set is that of the byte order mark,
// of contentType (a Content-Type header; may be empty), or of the page's own
// meta element, in this order, unless its bytes disprove it. Every input reads
// as some Page; the error is that of r, and the Page then holds what came before
// it.
func Read(r io.Reader, contentType string) (Page, error) {
	return read(context.Background(), r, contentType)
}

// read waits, until the context ends, where the page has a long token and too
// much memory is taken by those of others.
func read(ctx context.Context, r io.Reader, contentType string) (Page, error) {
	buffer := buffers.Get().(*bufio.Reader)
	buffer.Reset(r)
	s := scanners.Get().(*scanner)
	s.reset()
	f := &filler{Reader: decode(buffer, contentType), ctx: ctx, scanner: s, share: tokens.Share()}
	defer func() {
		buffer.Reset(nil)
		buffers.Put(buffer)
		scanners.Put(s)
		f.share.Release()
	}()
	z := html.NewTokenizer(f)
	f.tokenizer = z
	z.SetMaxBuf(maxToken)
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

// meta takes note of one meta element. The first of a kind counts, as it does
// for search engines.
func (p *Page) meta(a *attributes) {
	name := bytes.TrimSpace(a.name)
	if len(name) == 0 {
		name = bytes.TrimSpace(a.property)
	}
	switch string(bytes.ToLower(name)) {
	case "description":
		setOnce(&p.Description, a.content, maxDescription)
	case "keywords":
		setOnce(&p.Keywords, a.content, maxKeywords)
	case "og:title":
		setOnce(&p.OGTitle, a.content, maxTitle)
	case "og:description":
		setOnce(&p.OGDescription, a.content, maxDescription)
	case "og:site_name":
		setOnce(&p.SiteName, a.content, maxName)
	case "og:type":
		p.addType(fold(a.content, maxName))
	case "article:section":
		setOnce(&p.Section, a.content, maxName)
	}
	if p.Refresh == "" && bytes.EqualFold(a.httpEquiv, []byte("refresh")) {
		p.Refresh = refreshURL(string(a.content))
	}
}

func setOnce(field *string, text []byte, max int) {
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
