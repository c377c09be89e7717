package page

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// maxRefreshText is how much text, in bytes, a page may hold and still be no
// more than a signpost to the one its meta refresh names.
const maxRefreshText = 500

// Options says how pages are fetched. The zero value works.
type Options struct {
	// Mode defaults to Auto.
	Mode Mode
	// Timeout bounds one page with all its hops. Default 10 s: nearly every
	// site that answers at all does so by then.
	Timeout time.Duration
	// MaxBytes bounds what is read of one page, after decompression. Default
	// 2 MiB: what a page is about stands at its beginning.
	MaxBytes int64
	// MaxRedirects bounds the hops. Default 5: http to https, to www, to a
	// language, to a consent page, and one more.
	MaxRedirects int
	// UserAgent defaults to UserAgent("dev").
	UserAgent string
	// AllowPrivate also connects to addresses of the local network.
	AllowPrivate bool
	// Transport replaces the network, with its proxy and its address guard.
	Transport http.RoundTripper
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// UserAgent names this version of bulkcat to the sites it visits, and where
// their owners can read what it is.
func UserAgent(version string) string {
	return "bulkcat/" + version + " (+https://github.com/bulkcat/bulkcat)"
}

func (o Options) applyDefaults() Options {
	if o.Mode == "" {
		o.Mode = Auto
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 2 << 20
	}
	if o.MaxRedirects <= 0 {
		o.MaxRedirects = 5
	}
	if o.UserAgent == "" {
		o.UserAgent = UserAgent("dev")
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// A Fetcher fetches pages. It is safe for concurrent use.
type Fetcher struct {
	opts      Options
	transport http.RoundTripper
	gate      *gate // nil unless Mode is Auto
}

// New returns a Fetcher.
func New(opts Options) *Fetcher {
	opts = opts.applyDefaults()
	f := &Fetcher{opts: opts, transport: opts.Transport}
	online := func(context.Context) bool { return false } // a Transport speaks for itself
	if f.transport == nil {
		f.transport = newRoutes(opts, http.ProxyFromEnvironment, net.DefaultResolver.LookupNetIP)
		online = rootAnswers
	}
	if opts.Mode == Auto {
		f.gate = &gate{online: online, logger: opts.Logger}
	}
	return f
}

// Timeout returns the longest a Fetch takes.
func (f *Fetcher) Timeout() time.Duration { return f.opts.Timeout }

// Fetch gets the page at rawURL, an http or https URL, and reads it. It follows
// redirects, and a meta refresh on a page that says little else. It never tries
// another URL than it was given or sent to: not http for https, not www.
//
// Its errors are *Error with a Reason, or ErrPaused or ErrNever.
func (f *Fetcher) Fetch(ctx context.Context, rawURL string) (Page, error) {
	if f.opts.Mode == Never {
		return Page{}, ErrNever
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		// The parser's error repeats the URL, secrets included.
		return Page{}, &Error{Reason: BadURL, Err: errors.New("it does not parse")}
	}
	if f.gate == nil {
		return f.visit(ctx, u)
	}
	if err := f.gate.enter(); err != nil {
		return Page{}, err
	}
	page, err := f.visit(ctx, u)
	var failed *Error
	errors.As(err, &failed)
	f.gate.leave(ctx, failed)
	return page, err
}

// visit gets the page at u, or the one it leads to.
func (f *Fetcher) visit(ctx context.Context, u *url.URL) (Page, error) {
	if err := f.checkURL(u); err != nil {
		return Page{}, err
	}
	limited, cancel := context.WithTimeout(ctx, f.opts.Timeout)
	defer cancel()
	hops := 0
	client := &http.Client{
		Transport:     f.transport,
		CheckRedirect: func(req *http.Request, _ []*http.Request) error { return f.checkHop(req.URL, &hops) },
	}
	for {
		page, at, err := f.get(limited, client, u)
		if err != nil {
			return Page{}, asError(ctx, at, err)
		}
		next, ok := signpost(page, at)
		if !ok {
			return page, nil
		}
		if err := f.checkHop(next, &hops); err != nil {
			return Page{}, err
		}
		u = next
	}
}

// get makes one request and reads the answer, and returns where the redirects
// of the request led.
func (f *Fetcher) get(ctx context.Context, client *http.Client, u *url.URL) (Page, *url.URL, error) {
	req := (&http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{
		"User-Agent":      {f.opts.UserAgent},
		"Accept":          {"text/html, application/xhtml+xml;q=0.9"},
		"Accept-Language": {"en, *;q=0.5"}, // the categories are in English
	}}).WithContext(ctx)
	res, err := client.Do(req)
	if err != nil {
		return Page{}, u, err
	}
	defer res.Body.Close()
	at := u
	if res.Request != nil {
		at = res.Request.URL
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return Page{}, at, &Error{Reason: Status, Status: res.StatusCode}
	}
	body := bufio.NewReader(io.LimitReader(res.Body, f.opts.MaxBytes))
	contentType := res.Header.Get("Content-Type")
	if !isHTML(contentType, body) {
		return Page{}, at, &Error{Reason: NotHTML}
	}
	page, err := Read(body, contentType)
	return page, at, err
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

// signpost returns where a page sends its visitors, if it does little else.
func signpost(p Page, at *url.URL) (*url.URL, bool) {
	if p.Refresh == "" || len(p.Text) > maxRefreshText {
		return nil, false
	}
	next, err := at.Parse(p.Refresh)
	if err != nil {
		return nil, false
	}
	next.Fragment = ""
	return next, next.String() != at.String()
}

func (f *Fetcher) checkHop(u *url.URL, hops *int) error {
	if *hops++; *hops > f.opts.MaxRedirects {
		return &Error{URL: redact(u), Reason: Redirects}
	}
	return f.checkURL(u)
}

// checkURL refuses what is no web address. A blocked address spelled out in the
// URL is refused here already, because a proxy would connect to it unseen.
func (f *Fetcher) checkURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return &Error{URL: redact(u), Reason: BadURL, Err: errors.New("not an http or https URL with a host")}
	}
	if f.opts.AllowPrivate {
		return nil
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && isBlocked(addr) {
		return &Error{URL: redact(u), Reason: Blocked, Err: fmt.Errorf("%s is not a public address", addr)}
	}
	return nil
}
