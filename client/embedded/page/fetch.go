package page

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/time/rate"
)

// Options says how pages are fetched. The zero value works.
type Options struct {
	// Mode defaults to Auto.
	Mode Mode
	// Rate bounds the pages a second over all hosts; 0 is no limit. There is
	// none by default, because a host gets one request at a time in any case: a
	// limit spares the own network, not the sites.
	Rate rate.Limit
	// Timeout bounds one page with all its hops and what robots.txt takes, not
	// counting the wait for a turn. Default 10 s: nearly every site that answers
	// at all does so by then.
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
	return product + "/" + version + " (+https://github.com/bulkcat/bulkcat)"
}

func (o Options) applyDefaults() Options {
	if o.Mode == "" {
		o.Mode = Auto
	}
	if o.Rate <= 0 {
		o.Rate = rate.Inf
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
	pace      *rate.Limiter
	hosts     turns // by host name
	rulebook  rulebook
}

// New returns a Fetcher.
func New(opts Options) *Fetcher {
	opts = opts.applyDefaults()
	f := &Fetcher{opts: opts, transport: opts.Transport, pace: rate.NewLimiter(opts.Rate, 1)}
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

// Timeout returns the longest a Fetch takes, the wait for its turn aside.
func (f *Fetcher) Timeout() time.Duration { return f.opts.Timeout }

// Fetch gets the page at rawURL, an http or https URL, and reads it. It follows
// redirects, and a meta refresh on a page that says little else, and keeps to
// the robots.txt of each site on the way. It never tries another URL than it was
// given or sent to: not http for https, not www. It waits its turn, at the host
// and by Options.Rate, until the context ends.
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
		return f.fetch(ctx, u)
	}
	if err := f.gate.enter(); err != nil {
		return Page{}, err
	}
	page, err := f.fetch(ctx, u)
	var failed *Error
	errors.As(err, &failed)
	f.gate.leave(ctx, failed)
	return page, err
}

func (f *Fetcher) fetch(ctx context.Context, u *url.URL) (Page, error) {
	if err := f.wait(ctx); err != nil {
		return Page{}, asError(ctx, u, err)
	}
	v := visit{fetcher: f, left: f.opts.Timeout}
	page, err := v.run(ctx, u)
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

// wait waits until the rate lets another page through. Unlike rate.Limiter.Wait
// it does not give up early where the context's deadline is too near: its caller
// would take the failure for the page's.
func (f *Fetcher) wait(ctx context.Context) error {
	turn := f.pace.Reserve()
	delay := turn.Delay()
	if delay == 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		turn.Cancel()
		return ctx.Err()
	}
}
