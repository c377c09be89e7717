package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client/internal/fair"
	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

const (
	// Limit is the time limit of a page with all its hops and robots.txt, without the wait for the host and the rate: nearly every
	// site that answers at all answers in this time.
	Limit = 10 * time.Second

	// maxPage is the most bytes that are read of a page, after decompression: a page shows its subject at its beginning.
	maxPage = 2 << 20

	// maxHops is the most hops: http to https, to www, to a language, to a consent page, and one more.
	maxHops = 5
)

// Options are the options of a Fetcher. The zero value has usable defaults.
type Options struct {
	// Mode defaults to Auto.
	Mode Mode
	// Rate is the most pages a second over all hosts; 0 for no limit. There is no default
	// limit: every host gets one request at a time, so a limit protects only the machine's own
	// network.
	Rate rate.Limit
	// UserAgent defaults to UserAgent("dev").
	UserAgent string
	// AllowPrivate allows connections to addresses of the local network.
	AllowPrivate bool
	// Transport replaces the network, including the proxy and the check of addresses.
	Transport http.RoundTripper
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// UserAgent is the header User-Agent of a version of bulkcat, with a URL for the owners of sites.
func UserAgent(version string) string {
	return product + "/" + version + " (+https://github.com/bulkcat/bulkcat)"
}

func (o Options) applyDefaults() Options {
	o.Mode = cmp.Or(o.Mode, Auto)
	if o.Rate <= 0 {
		o.Rate = rate.Inf
	}
	o.UserAgent = cmp.Or(o.UserAgent, UserAgent("dev"))
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

// A Fetcher fetches pages. It is safe for concurrent use.
type Fetcher struct {
	opts      Options
	maxBytes  int64 // of a page
	transport http.RoundTripper
	breaker   *breaker // nil unless Mode is Auto
	pace      *rate.Limiter
	next      *fair.Places // one place, for the page that waits for the rate
	hosts     keyLocks     // by host name
	ruleCache ruleCache
}

// New returns a Fetcher.
func New(opts Options) *Fetcher {
	opts = opts.applyDefaults()
	f := &Fetcher{opts: opts, maxBytes: maxPage, transport: opts.Transport, pace: rate.NewLimiter(opts.Rate, 1), next: fair.NewPlaces(1, false)}
	online := func(context.Context) bool { return false } // a Transport need not be the network
	if f.transport == nil {
		f.transport = newRoutes(opts, http.ProxyFromEnvironment, net.DefaultResolver.LookupNetIP)
		online = rootAnswers
	}
	if opts.Mode == Auto {
		f.breaker = &breaker{online: online, logger: opts.Logger}
	}
	return f
}

// Fetch fetches and reads the page at rawURL, an http or https URL. It follows redirects and, on a page with little text, a meta
// refresh. It obeys the robots.txt of each site. It tries no other URLs, such as http instead of https, or www. It waits, until
// the context ends, for the host, which gets one request at a time, and for Options.Rate.
//
// Errors are *Error with a Reason, ErrPaused or ErrNever.
func (f *Fetcher) Fetch(ctx context.Context, rawURL string) (Page, error) {
	if f.opts.Mode == Never {
		return Page{}, ErrNever
	}
	u, err := weburl.ForRequest(rawURL)
	if err != nil {
		// net/url's error repeats the URL, secrets included.
		return Page{}, &Error{Reason: BadURL, Err: errors.New("it does not parse")}
	}
	if f.breaker == nil {
		return f.fetch(ctx, u)
	}
	if err := f.breaker.enter(); err != nil {
		return Page{}, err
	}
	page, err := f.fetch(ctx, u)
	failed, _ := errors.AsType[*Error](err)
	f.breaker.leave(ctx, failed)
	return page, err
}

func (f *Fetcher) fetch(ctx context.Context, u *url.URL) (Page, error) {
	if err := f.wait(ctx); err != nil {
		return Page{}, asError(ctx, u, err)
	}
	v := visit{fetcher: f, left: Limit}
	return v.run(ctx, u)
}

// wait waits until the rate allows another page. Accounts of contexts wait in a fair order. rate.Limiter.Wait would return at
// once if the context's deadline comes too early, which would look like a failure of the page.
func (f *Fetcher) wait(ctx context.Context) error {
	if f.opts.Rate == rate.Inf {
		return nil
	}
	leave, err := f.next.Take(ctx)
	if err != nil {
		return ctx.Err()
	}
	defer leave()
	reservation := f.pace.Reserve()
	delay := reservation.Delay()
	if delay == 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		reservation.Cancel()
		return ctx.Err()
	}
}

// Mode reports whether pages are fetched. It is a flag value (Set, String, Type).
type Mode string

const (
	// Auto fetches, and pauses while the machine seems to have no Internet: after three
	// consecutive failed lookups, if the root name servers do not resolve either, and after
	// thirty consecutive sites that do not respond. A probe every five minutes ends the pause.
	Auto Mode = "auto"
	// Always fetches every page and never pauses.
	Always Mode = "always"
	// Never fetches no page: every Fetch returns ErrNever.
	Never Mode = "never"
)

// Set takes the mode's name.
func (m *Mode) Set(name string) error {
	switch Mode(name) {
	case Auto, Always, Never:
		*m = Mode(name)
		return nil
	}
	return fmt.Errorf("%q is not a mode of fetching: use %s, %s or %s", name, Auto, Always, Never)
}

// String returns the mode's name.
func (m *Mode) String() string { return string(*m) }

// Type names the values in a command's help.
func (m *Mode) Type() string { return "auto|always|never" }
