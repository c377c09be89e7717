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
	// maxRefreshText is the most bytes of text in a page whose meta refresh is followed.
	maxRefreshText = 500

	// maxDrain is the most bytes of an unneeded body that are read, to keep the connection for
	// the next request.
	maxDrain = 16 << 10
)

// A visit is the state of one Fetch.
type visit struct {
	fetcher *Fetcher
	hops    int
	left    time.Duration // of Limit, which does not count the wait for a host
}

// run fetches the page at u, following redirects.
func (v *visit) run(ctx context.Context, u *url.URL) (Page, error) {
	for start := u; ; {
		if err := v.fetcher.checkURL(u); err != nil {
			return Page{}, err
		}
		if err := v.checkRobots(ctx, u); err != nil {
			return Page{}, err
		}
		page, next, err := v.get(ctx, u)
		if err != nil {
			return Page{}, err
		}
		if next == nil {
			if err := checkOwn(page, start, u); err != nil {
				return Page{}, err
			}
			return page, nil
		}
		if v.hops++; v.hops > maxHops {
			return Page{}, &Error{URL: redact(next), Reason: Redirects}
		}
		u = next
	}
}

// get makes one request and returns the page or the next URL.
func (v *visit) get(ctx context.Context, u *url.URL) (page Page, next *url.URL, err error) {
	err = v.exchange(ctx, u, "text/html, application/xhtml+xml;q=0.9", func(ctx context.Context, res *http.Response) (err error) {
		if next, err = redirect(res, u); next != nil || err != nil {
			return err
		}
		page, err = v.fetcher.read(ctx, res)
		return err
	})
	if err == nil && next == nil {
		next = refreshTarget(page, u)
	}
	return page, next, err
}

// exchange sends one request while it holds the lock of the host, calls read with the context of
// the exchange and the response, and returns read's error. All errors become *Error.
func (v *visit) exchange(ctx context.Context, u *url.URL, accept string, read func(context.Context, *http.Response) error) error {
	unlock, err := v.fetcher.hosts.lock(ctx, strings.ToLower(u.Hostname()))
	if err != nil {
		return asError(ctx, u, err)
	}
	defer unlock()
	start := time.Now()
	defer func() { v.left -= time.Since(start) }()
	limited, cancel := context.WithTimeout(ctx, v.left)
	defer cancel()
	res, err := v.fetcher.transport.RoundTrip(v.fetcher.request(limited, u, accept))
	if err != nil {
		return asError(ctx, u, err)
	}
	defer closeBody(res)
	if err := read(limited, res); err != nil {
		return asError(ctx, u, err)
	}
	return nil
}

// closeBody closes a body. It first reads a short rest, which keeps the connection.
func closeBody(res *http.Response) {
	if 0 < res.ContentLength && res.ContentLength <= maxDrain {
		_, _ = io.Copy(io.Discard, res.Body) // after an error the transport closes the connection
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

// read reads the page of a response with HTML.
func (f *Fetcher) read(ctx context.Context, res *http.Response) (Page, error) {
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return Page{}, &Error{Reason: Status, Status: res.StatusCode}
	}
	// The transport has decoded gzip, the only encoding that it accepts.
	if coding := res.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return Page{}, &Error{Reason: NotHTML, Err: fmt.Errorf("the encoding %.20q is not accepted", coding)}
	}
	body := bufio.NewReader(io.LimitReader(res.Body, f.maxBytes))
	contentType := res.Header.Get("Content-Type")
	if !isHTML(contentType, body) {
		return Page{}, &Error{Reason: NotHTML}
	}
	return read(ctx, body, contentType)
}

// isHTML reports whether the content type is HTML or, without a content type, the first bytes are HTML.
func isHTML(contentType string, body *bufio.Reader) bool {
	if contentType == "" {
		head, _ := body.Peek(512) // as much as DetectContentType looks at
		contentType = http.DetectContentType(head)
		if bytes.Contains(bytes.ToLower(head), []byte("<html")) { // behind an XML declaration
			return true
		}
	}
	media, _, _ := mime.ParseMediaType(contentType) // "" if malformed; an invalid parameter is ignored
	return media == "text/html" || media == "application/xhtml+xml"
}

// refreshTarget returns the URL of a page's meta refresh if the page has little text, or nil.
func refreshTarget(p Page, at *url.URL) *url.URL {
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
