package page

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"

	"github.com/bulkcat/bulkcat/client/internal/socket"
)

// ErrPaused is the error of a Fetcher in mode Auto while the machine seems to have no Internet.
var ErrPaused = errors.New("fetching is paused: no Internet")

// ErrNever is the error of a Fetcher in mode Never.
var ErrNever = errors.New("fetching is switched off")

// FailureKind is the reason why a page could not be fetched.
type FailureKind string

const (
	BadURL      FailureKind = "url"         // not an http or https URL with a host
	Blocked     FailureKind = "blocked"     // an address of the local network
	DNS         FailureKind = "dns"         // the name did not resolve, or not in time
	Refused     FailureKind = "refused"     // no server listens at the address
	Unreachable FailureKind = "unreachable" // no route to the network or the host
	Timeout     FailureKind = "timeout"     // no whole page within Limit
	Canceled    FailureKind = "canceled"    // the caller's context ended first
	Proxy       FailureKind = "proxy"       // the proxy of the environment failed or refused
	TLS         FailureKind = "tls"         // no trusted certificate, or no handshake
	Redirects   FailureKind = "redirects"   // more than maxHops hops
	Status      FailureKind = "status"      // an HTTP status other than 2xx, in Error.Status
	NotHTML     FailureKind = "not html"    // an image, a download, an API
	Broken      FailureKind = "broken"      // the connection or the body ended early
	Robots      FailureKind = "robots"      // the site's robots.txt forbids the fetch, or cannot be read
	Parked      FailureKind = "parked"      // a page without a site: for sale, not set up, suspended
	ErrorPage   FailureKind = "error page"  // an error page with a status of 2xx
	Challenge   FailureKind = "challenge"   // a page that blocks programs
)

// Error says why a page could not be fetched.
type Error struct {
	URL    string // the URL that failed, after redirects, without user and query
	Reason FailureKind
	Status int   // the HTTP status, for reason Status; else 0
	Err    error // the cause; nil if the Reason is enough

	recalled bool // the error is from an earlier fetch: see originRules.recall
}

func (e *Error) Error() string {
	what := "fetching " + e.URL
	if e.URL == "" {
		what = "fetching a page"
	}
	switch {
	case e.Status != 0:
		return fmt.Sprintf("%s: HTTP status %d", what, e.Status)
	case e.Err != nil:
		return fmt.Sprintf("%s: %s: %v", what, e.Reason, e.Err)
	}
	return fmt.Sprintf("%s: %s", what, e.Reason)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// asError converts the error of an exchange with u to an *Error. An *Error in the chain, such as the dial guard's, keeps its
// reason.
func asError(ctx context.Context, u *url.URL, err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		if known.URL == "" {
			return &Error{URL: redact(u), Reason: known.Reason, Status: known.Status, Err: known.Err, recalled: known.recalled}
		}
		return known
	}
	if ctx.Err() != nil {
		return &Error{URL: redact(u), Reason: Canceled, Err: ctx.Err()}
	}
	return &Error{URL: redact(u), Reason: reasonOf(err), Err: err}
}

func reasonOf(err error) FailureKind {
	op, isOp := errors.AsType[*net.OpError](err)
	failed, isNet := errors.AsType[net.Error](err)
	switch {
	case isOp && op.Op == "proxyconnect": // checked before DNS, because the failed name may be the proxy's
		return Proxy
	case is[*net.DNSError](err):
		return DNS
	case socket.Is(err, syscall.ECONNREFUSED):
		return Refused
	case socket.Is(err, syscall.ENETUNREACH), socket.Is(err, syscall.EHOSTUNREACH):
		return Unreachable
	case errors.Is(err, context.DeadlineExceeded), isNet && failed.Timeout():
		return Timeout
	case isTLS(err):
		return TLS
	}
	return Broken
}

func isTLS(err error) bool {
	return is[tls.RecordHeaderError](err) || is[tls.AlertError](err) || is[*tls.CertificateVerificationError](err) || is[x509.HostnameError](err)
}

// is reports whether an error of a type is in the chain of err.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// redact returns u without the parts that may be secret: user, query and fragment.
func redact(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return bare.String()
}
