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

// The most bytes of the parts of a Page. Only pages that repeat keywords thousands of times have more.
const (
	maxTitle       = 512
	maxDescription = 2 << 10
	maxKeywords    = 1 << 10
	maxHeading     = 256
	maxHeadings    = 40  // a count
	maxAlt         = 256 // the alternative text of an image
	maxText        = 32 << 10
	maxURL         = 2 << 10

	// maxAside is the most bytes of text set aside. maxBanner is the most bytes of a banner, whose lists of partners and
	// purposes are long.
	maxAside  = maxText
	maxBanner = 8 << 10

	// maxToken is the most bytes of one text, such as an inline script, and maxTag of one tag, such as an inline image. The page
	// ends before a longer text or tag.
	maxToken = 2 << 20
	maxTag   = 1 << 20
)

// maxRefreshDelay, in seconds, distinguishes a redirect from a page that reloads itself every few
// minutes.
const maxRefreshDelay = 5

// Page has the parts of a page that describe its site. White space is folded in all of them.
type Page struct {
	Title         string
	Description   string   // <meta name="description">
	Keywords      string   // <meta name="keywords">
	OGTitle       string   // <meta property="og:title">
	OGDescription string   // <meta property="og:description">
	SiteName      string   // <meta property="og:site_name">, or the name of the schema.org organization
	Section       string   // of a newspaper: <meta property="article:section">, or articleSection of schema.org
	Types         []string // the types of schema.org and og:type in words, such as "Auto Repair", without the types in anyType
	Product       string   // the name of the first schema.org Product
	Category      string   // that Product's category
	Breadcrumb    []string // the names of the schema.org BreadcrumbList, without the home page
	Headings      []string // h1 to h3, in order, at most 40
	Text          string   // the visible text, without navigation, footer and banners
	Refresh       string   // the URL of a meta refresh of at most 5 s, as written
	ParkedBy      string   // the domain parking service whose scripts or frames the page has
}

// buffers are readers whose buffers hold enough of a page for its character set.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxHead) }}

// read reads the HTML in r. The character set is from the byte order mark, contentType (a Content-Type header; may be empty), or
// the page's meta element, in this order, unless the bytes contradict it. Every input gives a Page. The error comes from r, and
// the Page then has the parts before the error. If long tokens of other pages take all of allTokens, a long token waits for
// memory until the context ends.
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

// meta reads a meta element. Of each kind the first counts, as for search engines.
func (p *Page) meta(a attributes) {
	name := bytes.TrimSpace(a["name"])
	if len(name) == 0 {
		name = bytes.TrimSpace(a["property"])
	}
	switch string(bytes.ToLower(name)) {
	case "description":
		setOnce(&p.Description, a["content"], maxDescription)
	case "keywords":
		setOnce(&p.Keywords, a["content"], maxKeywords)
	case "og:title":
		setOnce(&p.OGTitle, a["content"], maxTitle)
	case "og:description":
		setOnce(&p.OGDescription, a["content"], maxDescription)
	case "og:site_name":
		setOnce(&p.SiteName, a["content"], maxName)
	case "og:type":
		p.addType(fold(a["content"], maxName))
	case "article:section":
		setOnce(&p.Section, a["content"], maxName)
	}
	if p.Refresh == "" && bytes.EqualFold(a["http-equiv"], []byte("refresh")) {
		p.Refresh = refreshURL(string(a["content"]))
	}
}

func setOnce(field *string, text []byte, max int) {
	if *field == "" {
		*field = fold(text, max)
	}
}

// refreshURL parses `5; url='https://example.com/'`. It returns "" if the delay is longer than
// maxRefreshDelay or there is no URL.
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
