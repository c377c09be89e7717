package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/reply"
	"github.com/bulkcat/bulkcat/client/internal/socket"
)

// Class says what an error means for the request and for the run.
type Class uint8

const (
	Transient Class = iota + 1 // a temporary failure: make another attempt
	Rejected                   // the service refuses this input for good: keep the reason
	Quota                      // the quota is used up: stop, and resume later
	Auth                       // the key is missing, wrong or not allowed: stop
	Fatal                      // no request can succeed with these options: stop
	Unsent                     // this machine could not send the request: make another attempt
)

var classNames = [...]string{
	"unknown", Transient: "transient", Rejected: "rejected", Quota: "quota", Auth: "auth", Fatal: "fatal", Unsent: "unsent",
}

// String returns the name of the class in lower case.
func (c Class) String() string { return classNames[c] }

// statusClasses are the classes of single statuses (RFC 9110 §15, RFC 6585). classOf has the rules for the others.
var statusClasses = map[int]Class{
	http.StatusUnauthorized:      Auth,
	http.StatusPaymentRequired:   Quota,
	http.StatusForbidden:         Auth,
	http.StatusMethodNotAllowed:  Fatal, // the operations are the same for every input
	http.StatusProxyAuthRequired: Fatal,
	http.StatusRequestTimeout:    Transient,
	http.StatusUpgradeRequired:   Fatal,
	http.StatusTooEarly:          Transient,
	statusBandwidthExceeded:      Quota,
}

// statusBandwidthExceeded says that an allowance is used up. No RFC defines it. Hosting companies use it.
const statusBandwidthExceeded = 509

func classOf(status int) Class {
	if class, ok := statusClasses[status]; ok {
		return class
	}
	switch {
	case reply.IsSign(status), status/100 == 5:
		return Transient
	case status/100 == 4:
		return Rejected
	}
	return Fatal // net/http handles 1xx, and send handles 3xx
}

// Error says why an attempt got no answer. Its text never contains the API key.
type Error struct {
	Class      Class
	Status     int           // HTTP status; 0 if there was no response
	RetryAfter time.Duration // wait that the service asked for; 0 if it did not
	Limit      RateLimit     // the service's limit, as the response states it
	Detail     string        // the service's message, in one line of up to 120 characters; for a *ShapeError, up to 500 characters of the answer
	Page       bool          // the body is HTML or XML: it is not from the service, but perhaps from a proxy
	Shared     bool          // a gateway has refused and sent the service no request: the attempt cost nothing
	Err        error         // the cause; nil if the status is the cause

	input    string // the request's input, which Detail may repeat
	spent    bool   // the body says that the quota is used up: see reply.IsSpent
	deferred bool   // see Deferred
}

// RateLimit is the service's limit, as a response reports it.
type RateLimit = reply.Limit

// Error returns the status, the cause, the service's message and advice, in one line.
func (e *Error) Error() string {
	var parts []string
	if e.Status != 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	parts = append(parts, e.Detail, e.advice())
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether the attempt reached Options.Timeout.
func (e *Error) Timeout() bool {
	_, ok := errors.AsType[*TimeoutError](e.Err)
	return ok
}

// Unreached reports whether no connection to the service could be made: the request was not sent.
func (e *Error) Unreached() bool {
	op, ok := errors.AsType[*net.OpError](e.Err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect") && e.Class == Transient
}

// refusal returns the response as package reply reads it.
func (e *Error) refusal() reply.Refusal {
	return reply.Refusal{Status: e.Status, Detail: e.Detail, Input: e.input, Wait: e.RetryAfter, Spent: e.spent}
}

// meaning returns what the response says about limits.
func (e *Error) meaning() reply.Meaning {
	if e.Class != Transient || e.Status == 0 || e.deferred {
		return reply.NotLimited
	}
	return e.refusal().Meaning()
}

// Refused reports whether the service did not work on the request because the client asks too much.
func (e *Error) Refused() bool { return e.meaning() == reply.Limited }

// Unavailable reports whether the service says that it cannot serve now: it is out, or the client asks too much.
func (e *Error) Unavailable() bool { return e.meaning() == reply.Unavailable }

// Deferred returns a refusal as the response of a service that computes the answer meanwhile: it is not about a limit.
func (e *Error) Deferred() *Error {
	deferred := *e
	deferred.deferred = true
	return &deferred
}

// IsDeferred reports whether Deferred returned the error.
func (e *Error) IsDeferred() bool { return e.deferred }

// mayLimit reports whether a limiter may have sent the response.
func (e *Error) mayLimit() bool { return e.Refused() || e.Unavailable() }

// Label returns a short name of the failure, for counters: a status such as "503", "malformed" for an
// answer that cannot be decoded, "timeout", "unsent", or "no response".
func (e *Error) Label() string {
	switch {
	case reply.IsAnswer(e.Status):
		return "malformed"
	case e.Status != 0:
		return strconv.Itoa(e.Status)
	case e.Timeout():
		return "timeout"
	case e.Class == Unsent:
		return "unsent"
	}
	return "no response"
}

// advice returns what the user can do; "" for nothing.
func (e *Error) advice() string {
	switch e.Class {
	case Fatal:
		if e.Status/100 == 3 {
			return "the service has another address"
		}
	case Auth:
		return "check the API key"
	case Quota:
		if strings.Contains(strings.ToLower(e.Detail), "quota") { // the service's message says whose quota
			return ""
		}
		return "the quota of the API key is used up"
	}
	return ""
}

// BlamesInput reports whether the service says that it does not know the input: with the status 404 or 410, and a message about
// an input. Messages about a path or a route are from a router that has no such operation.
func (e *Error) BlamesInput() bool {
	return e.isUnknown() && !e.Page && e.refusal().BlamesInput()
}

// Astray reports whether another server than the service may have rejected the request, such as a proxy, or a backend that is
// being replaced: with a page, or with the status 404 or 410 and a message about a path or a route.
func (e *Error) Astray() bool {
	return classOf(e.Status) == Rejected && !e.mayLimit() && (e.Page || e.isUnknown() && e.refusal().BlamesRoute())
}

func (e *Error) isUnknown() bool {
	return e.Status == http.StatusNotFound || e.Status == http.StatusGone
}

// OptionName returns the option that may help: "client.APIKey", "client.BaseURL", "client.Member" or "client.Timeout"; "" for none.
func (e *Error) OptionName() string {
	var option interface{ OptionName() string } // an *OptionError or a *ShapeError
	switch {
	case e.Class == Auth:
		return "client.APIKey"
	case e.Timeout():
		return "client.Timeout"
	case e.Class == Fatal && e.Status/100 == 3:
		return "client.BaseURL"
	case errors.As(e.Err, &option):
		return option.OptionName()
	}
	return ""
}

// OptionError says that an option needs another value.
type OptionError struct {
	Option string // the field of Options: APIKey, BaseURL, Headers or Member
	Err    error
}

func (e *OptionError) Error() string { return e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// OptionName returns the package and the field, such as "client.BaseURL".
func (e *OptionError) OptionName() string { return "client." + e.Option }

// ClassOf returns the class of an error of an Attempter. An error that is not an *Error is Fatal.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Fatal
}

// exchangeError classifies the error of an attempt that got no whole response. An invalid certificate is
// Fatal, because the next attempt gets the same.
func exchangeError(err error) *Error {
	if _, noTLS := errors.AsType[tls.RecordHeaderError](err); noTLS {
		err = errNoTLS
	}
	class := Transient
	fatal := []any{
		new(*OptionError), new(*tls.CertificateVerificationError),
		new(x509.UnknownAuthorityError), new(x509.HostnameError), new(x509.CertificateInvalidError),
	}
	if errors.Is(err, errProxyAuth) || slices.ContainsFunc(fatal, func(target any) bool { return errors.As(err, target) }) {
		class = Fatal
	}
	if isLocal(err) {
		class = Unsent
	}
	return &Error{Class: class, Err: err}
}

// isLocal reports whether a connection failed for lack of file descriptors, ports or memory on this
// machine.
func isLocal(err error) bool {
	lacks := []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS}
	return slices.ContainsFunc(lacks, func(want syscall.Errno) bool { return socket.Is(err, want) })
}

var (
	errTimeout            = errors.New("the service did not answer in time")
	errNoTLS        error = &OptionError{"BaseURL", errors.New("the service does not speak TLS: if that is right, write http:// in place of https://")}
	errRedirectLoop error = &OptionError{"BaseURL", errors.New("the service redirects in a circle")}
)
