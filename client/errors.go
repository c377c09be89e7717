package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Class says what an error means for the request and for the run.
type Class uint8

const (
	Transient Class = iota + 1 // passing trouble: try this request again
	Rejected                   // the service refuses this one input: give it up, keep the reason
	Quota                      // nothing is left to pay with: stop, resume later
	Auth                       // the key is missing, wrong or not allowed: stop
	Fatal                      // the service cannot be talked to like this: stop
	Unsent                     // this machine could not send the request: send it again
)

func (c Class) String() string {
	switch c {
	case Transient:
		return "transient"
	case Rejected:
		return "rejected"
	case Quota:
		return "quota"
	case Auth:
		return "auth"
	case Fatal:
		return "fatal"
	case Unsent:
		return "unsent"
	}
	return "unknown"
}

// statusClasses is what each status means by itself (RFC 9110 §15, RFC 6585). What is
// not listed falls to its hundred: see classOf.
var statusClasses = map[int]Class{
	http.StatusAccepted: Transient, // 202: still calculating

	http.StatusUnauthorized:      Auth,
	http.StatusPaymentRequired:   Quota,
	http.StatusForbidden:         Auth,
	http.StatusMethodNotAllowed:  Fatal, // the operations are the same for every input
	http.StatusProxyAuthRequired: Fatal,
	http.StatusRequestTimeout:    Transient,
	http.StatusUpgradeRequired:   Fatal,
	http.StatusTooEarly:          Transient,
	http.StatusTooManyRequests:   Transient,
	statusBandwidthExceeded:      Quota,
}

// statusBandwidthExceeded is used by hosters for a used-up allowance; no RFC has it.
const statusBandwidthExceeded = 509

func classOf(status int) Class {
	if class, ok := statusClasses[status]; ok {
		return class
	}
	switch status / 100 {
	case 4:
		return Rejected
	case 5:
		return Transient
	}
	return Fatal // 1xx and 3xx never reach here in a sound exchange
}

// Error is why an attempt got no answer. Its text never holds the API key.
type Error struct {
	Class      Class
	Status     int           // HTTP status; 0 where no response came
	RetryAfter time.Duration // what the service asked to wait; 0 where it did not say
	Limit      RateLimit     // what the response told of the service's limit
	Detail     string        // the service's own words, shortened to one line
	Err        error         // the cause; nil where the status says it all
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Status != 0 {
		fmt.Fprintf(&b, "HTTP %d", e.Status)
		if text := http.StatusText(e.Status); text != "" {
			b.WriteString(" " + text)
		}
	}
	for _, part := range []string{errText(e.Err), e.Detail, e.advice()} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Timeout says whether the service did not answer in time.
func (e *Error) Timeout() bool { return errors.Is(e.Err, errTimeout) }

// Outcome names how the attempt ended, for counting: a status such as "503", "malformed"
// for an answer that could not be read, "timeout", "unsent", or "no response".
func (e *Error) Outcome() string {
	switch {
	case e.Status == http.StatusOK:
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

// advice is what to do next, where the user can do something.
func (e *Error) advice() string {
	switch e.Class {
	case Fatal:
		if e.Status/100 == 3 {
			return "the service is elsewhere: check --base-url"
		}
	case Auth:
		return "check the API key in BULKCAT_API_KEY or --api-key-file"
	case Quota:
		return "the account has no requests left"
	}
	return ""
}

// ClassOf gives the class of any error that came out of a Categorizer; what is not an
// *Error is Fatal.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Fatal
}

// exchangeError classifies a failed exchange: no response, or one cut short. A
// certificate that does not hold will not hold at the next attempt either.
func exchangeError(err error) *Error {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		record   tls.RecordHeaderError
		verify   *tls.CertificateVerificationError
		redirect *redirectError
	)
	class := Transient
	if errors.As(err, &unknown) || errors.As(err, &hostname) || errors.As(err, &invalid) ||
		errors.As(err, &record) || errors.As(err, &verify) || errors.As(err, &redirect) ||
		errors.Is(err, errRedirectLoop) || errors.Is(err, errProxyAuth) {
		class = Fatal
	}
	if isOurs(err) {
		class = Unsent
	}
	return &Error{Class: class, Err: err}
}

// isOurs says whether a connection failed for want of something on this machine: file
// descriptors, ports or memory.
func isOurs(err error) bool {
	for _, want := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

var (
	errTimeout      = errors.New("the service did not answer in time")
	errRedirectLoop = errors.New("the service redirects in a circle: check --base-url")
)

// redirectError refuses to follow the service to another host: the key would go along.
type redirectError struct{ from, to string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("%s redirects to %s: if that is right, set --base-url to it", e.from, e.to)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
