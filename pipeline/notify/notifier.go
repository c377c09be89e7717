package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limit bounds the delivery of an event, including all attempts. Callers should bound Close by it, too.
const Limit = 10 * time.Second

const (
	sendLimit  = 3 * time.Second        // for connecting and sending: an unreachable receiver gets three attempts within Limit
	firstPause = 250 * time.Millisecond // before the second attempt; each further pause is twice as long
	bodyLimit  = 64 << 10               // bytes of a response that are read, so that the connection can be reused
	errorLimit = 300                    // bytes of an error text: net/http quotes a response that is not HTTP
)

// SignatureHeader is the header with the signature of the body: "sha256=" and the hex HMAC-SHA256 with [Options].Secret as key.
const SignatureHeader = "X-Bulkcat-Signature"

// Options describe a [Notifier]. URL is required.
type Options struct {
	URL       string
	On        Occasions
	Format    Format         // default JSON
	Secret    string         // signs the bodies; "" for no signature
	RootCAs   *x509.CertPool // nil for the system's
	UserAgent string
	Hide      func(string) string // removes secrets from error texts; may be nil
	Log       *slog.Logger        // gets warnings; may be nil
}

// Notifier posts events. It is safe for concurrent use.
type Notifier struct {
	options   Options
	url       *url.URL
	secrets   *strings.Replacer // removes url and its parts from texts
	transport *http.Transport
	ctx       context.Context // of the background deliveries
	cancel    func()
	posts     sync.WaitGroup

	mu   sync.Mutex
	last chan struct{} // closed after the delivery of the last posted event; nil before the first
}

// New returns a notifier. It returns an error if the URL or the format is invalid; the error does not contain the URL, which is
// a secret.
func New(options Options) (*Notifier, error) {
	u, err := url.Parse(strings.TrimSpace(options.URL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the URL must begin with https:// or http:// and have a host")
	}
	options.Format = cmp.Or(options.Format, JSON)
	if options.Format != JSON && options.Format != Slack {
		return nil, fmt.Errorf("the format %q must be %s or %s", options.Format, JSON, Slack)
	}
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	n := &Notifier{options: options, url: u, secrets: hiding(u), transport: http.DefaultTransport.(*http.Transport).Clone()}
	n.transport.TLSClientConfig = &tls.Config{RootCAs: options.RootCAs}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n, nil
}

// Post posts an event in the background, after all earlier events, if [Options].On includes the occasion. It tries for at most
// [Limit], and logs a failure. Close waits for the delivery.
func (n *Notifier) Post(occasion Occasion, facts Facts) {
	if !n.options.On.has(occasion) {
		return
	}
	facts.Error = n.hide(facts.Error)
	e := Event{Format: 1, ID: rand.Text(), Occasion: occasion, Time: time.Now().UTC(), Facts: facts}
	body, err := n.options.Format.body(e)
	if err != nil {
		n.warn(occasion, err)
		return
	}
	n.mu.Lock()
	before, done := n.last, make(chan struct{})
	n.last = done
	n.mu.Unlock()
	n.posts.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		ctx, cancel := context.WithTimeout(n.ctx, Limit)
		defer cancel()
		if err := n.deliver(ctx, e.ID, body); err != nil {
			n.warn(occasion, err) // a failed delivery does not fail the run
		}
	})
}

func (n *Notifier) warn(occasion Occasion, err error) {
	n.options.Log.Warn("an event was not delivered", "event", occasion, "host", n.url.Host, "error", err)
}

// Close waits until all events are delivered, or ctx is canceled. Do not call Post afterwards.
func (n *Notifier) Close(ctx context.Context) {
	stop := context.AfterFunc(ctx, n.cancel)
	defer stop()
	n.posts.Wait()
	n.cancel()
	n.transport.CloseIdleConnections()
}

func (n *Notifier) hide(text string) string {
	text = n.secrets.Replace(text)
	if n.options.Hide == nil {
		return text
	}
	return n.options.Hide(text)
}

// leastSecret is the minimum length of a part of a URL that is hidden by itself, in bytes. Hiding shorter parts would make
// errors unreadable.
const leastSecret = 4

// hiding returns a replacer that hides a URL and its parts. An error may quote parts: receivers may echo the request.
func hiding(u *url.URL) *strings.Replacer {
	password, _ := u.User.Password()
	parts := []string{u.String(), u.RequestURI(), u.EscapedPath(), u.RawQuery, u.Fragment, u.User.Username(), password}
	parts = append(parts, strings.Split(u.Path, "/")...)
	for name, values := range u.Query() {
		parts = append(append(parts, name), values...)
	}
	var spellings []string
	for _, part := range parts {
		quoted := strings.Trim(strconv.Quote(part), `"`)
		spellings = append(spellings, part, quoted, url.PathEscape(part), url.QueryEscape(part))
	}
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) }) // the longest first, so that no part is hidden partially
	var pairs []string
	for _, text := range spellings {
		if len(text) >= leastSecret {
			pairs = append(pairs, text, "[secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// deliver posts a body until the receiver accepts or refuses it, or ctx is canceled. id is the same in each attempt. The error
// is that of the last attempt that ctx did not cancel, without secrets.
func (n *Notifier) deliver(ctx context.Context, id string, body []byte) error {
	err := n.attempts(ctx, id, body)
	if err == nil {
		return nil
	}
	text := n.hide(err.Error())
	if len(text) > errorLimit {
		text = strings.ToValidUTF8(text[:errorLimit], "") + "..."
	}
	return errors.New(text)
}

func (n *Notifier) attempts(ctx context.Context, id string, body []byte) (err error) {
	for pause := firstPause; ; pause *= 2 {
		again, failure := n.attempt(ctx, id, body)
		if err == nil || ctx.Err() == nil {
			err = failure
		}
		if failure == nil || !again {
			return failure
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// bounded returns the context of an attempt. It is canceled after sendLimit if the message is not sent by then. A sent message
// may wait for its response until ctx ends: another attempt would send it twice.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unsent := time.AfterFunc(sendLimit, func() { cancel(errUnsent) })
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { unsent.Stop() }})
	return ctx, func() { unsent.Stop(); cancel(nil) }
}

var errUnsent = fmt.Errorf("the receiver did not take the message within %v", sendLimit)

// attempt posts a body once. again reports whether another attempt may succeed.
func (n *Notifier) attempt(ctx context.Context, id string, body []byte) (again bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	to := *n.url
	to.User = nil
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the URL cannot be used")
	}
	if user := n.url.User; user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", n.options.UserAgent)
	req.Header.Set("Idempotency-Key", id)
	if n.options.Secret != "" {
		req.Header.Set(SignatureHeader, sign(n.options.Secret, body))
	}
	resp, err := n.transport.RoundTrip(req) // RoundTrip does not follow redirects, which could leak the event to any host
	if err != nil {
		if context.Cause(ctx) == errUnsent {
			return true, errUnsent
		}
		_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
		return !untrusted, err // errors of RoundTrip do not contain the URL
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, bodyLimit)) // only the status matters
	resp.Body.Close()
	switch status := resp.StatusCode; {
	case status >= 200 && status < 300:
		return false, nil
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return true, fmt.Errorf("the receiver answers with status %d", status)
	default:
		return false, fmt.Errorf("the receiver refuses the message with status %d", status)
	}
}

// sign returns the value of [SignatureHeader] for a body.
func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
