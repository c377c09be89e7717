package page

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// maxRefreshText is how much text, in bytes, a page may hold and still be no
	// more than a signpost to the one its meta refresh names.
	maxRefreshText = 500

	// maxDrain is how long a body may be that is read although nobody wants it,
	// to keep its connection for the next request.
	maxDrain = 16 << 10
)

// A visit is one Fetch under way, hop by hop.
type visit struct {
	fetcher *Fetcher
	hops    int
	left    time.Duration // of Options.Timeout; waiting for a turn takes none of it
}

// run gets the page at u, or the one it leads to.
func (v *visit) run(ctx context.Context, u *url.URL) (Page, error) {
	for start := u; ; {
		if err := v.fetcher.checkURL(u); err != nil {
			return Page{}, err
		}
		if err := v.obey(ctx, u); err != nil {
			return Page{}, err
		}
		page, next, err := v.get(ctx, u)
		if err != nil {
			return Page{}, err
		}
		if next == nil {
			return page, checkOwn(page, start, u)
		}
		if v.hops++; v.hops > v.fetcher.opts.MaxRedirects {
			return Page{}, &Error{URL: redact(next), Reason: Redirects}
		}
		u = next
	}
}

// get makes one request and reads the answer: a page, or where it leads.
func (v *visit) get(ctx context.Context, u *url.URL) (page Page, next *url.URL, err error) {
	err = v.exchange(ctx, u, "text/html, application/xhtml+xml;q=0.9", func(ctx context.Context, res *http.Response) (err error) {
		if next, err = redirect(res, u); next != nil || err != nil {
			return err
		}
		page, err = v.fetcher.read(ctx, res)
		return err
	})
	if err == nil && next == nil {
		next = signpost(page, u)
	}
	return page, next, err
}

// exchange sends one request when its host's turn has come, and hands the
// response to read, with the context of the exchange, and returns its error. All
// errors become *Error.
func (v *visit) exchange(ctx context.Context, u *url.URL, accept string, read func(context.Context, *http.Response) error) error {
	release, err := v.fetcher.hosts.take(ctx, strings.ToLower(u.Hostname()))
	if err != nil {
		return asError(ctx, u, err)
	}
	defer release()
	start := time.Now()
	defer func() { v.left -= time.Since(start) }()
	limited, cancel := context.WithTimeout(ctx, v.left)
	defer cancel()
	res, err := v.fetcher.transport.RoundTrip(v.fetcher.request(limited, u, accept))
	if err != nil {
		return asError(ctx, u, err)
	}
	defer hangUp(res)
	if err := read(limited, res); err != nil {
		return asError(ctx, u, err)
	}
	return nil
}

// hangUp closes a body, and reads the rest before if that saves a connection.
func hangUp(res *http.Response) {
	if 0 < res.ContentLength && res.ContentLength <= maxDrain {
		_, _ = io.Copy(io.Discard, res.Body) // one that fails is not kept
	}
	res.Body.Close()
}

func (f *Fetcher) request(ctx context.Context, u *url.URL, accept string) *http.Request {
	return (&http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{
		"User-Agent":      {f.opts.UserAgent},
		"Accept":          {accept},
		"Accept-Language": {"en, *;q=0.5"}, // the categories are in English
	}}).WithContext(ctx)
}

// read reads the page of a response that holds one.
func (f *Fetcher) read(ctx context.Context, res *http.Response) (Page, error) {
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return Page{}, &Error{Reason: Status, Status: res.StatusCode}
	}
	// The transport has undone gzip, the only encoding it asks for.
	if coding := res.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return Page{}, &Error{Reason: NotHTML, Err: fmt.Errorf("it is encoded as %.20q, unasked", coding)}
	}
	body := bufio.NewReader(io.LimitReader(res.Body, f.opts.MaxBytes))
	contentType := res.Header.Get("Content-Type")
	if !isHTML(contentType, body) {
		return Page{}, &Error{Reason: NotHTML}
	}
	return read(ctx, body, contentType)
}

// isHTML judges by the content type, and by the first bytes where there is none.
func isHTML(contentType string, body *bufio.Reader) bool {
	if contentType == "" {
		head, _ := body.Peek(512) // as much as DetectContentType looks at
		contentType = http.DetectContentType(head)
		if bytes.Contains(bytes.ToLower(head), []byte("<html")) { // behind an XML declaration
			return true
		}
	}
	media, _, _ := mime.ParseMediaType(contentType) // "" if malformed; a bad parameter is forgiven
	return media == "text/html" || media == "application/xhtml+xml"
}

// signpost returns where a page sends its visitors, if it does little else; or
// nil.
func signpost(p Page, at *url.URL) *url.URL {
	if p.Refresh == "" || len(p.Text) > maxRefreshText {
		return nil
	}
	next, err := at.Parse(p.Refresh)
	if err != nil {
		return nil
	}
	next.Fragment, next.RawFragment = "", ""
	if next.String() == at.String() {
		return nil
	}
	return next
}
