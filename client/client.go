package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/memory"
	"github.com/bulkcat/bulkcat/client/internal/reply"
)

// Attempter makes one attempt at a request. The error is an *Error, or the cause of the context. The caller passes the answer
// to [Release].
type Attempter interface {
	Attempt(context.Context, Request) (Answer, error)
}

// ParamIn is the place of a request's parameters.
type ParamIn string

// The places from which services read parameters.
const (
	InQuery ParamIn = "query" // the URL's query
	InForm  ParamIn = "form"  // the body, application/x-www-form-urlencoded
	InJSON  ParamIn = "json"  // the body, a JSON object
)

// Options describe a service and how to reach it. Only BaseURL is required.
type Options struct {
	BaseURL      string            // scheme, host and the path before /api; without a query
	APIKey       string            // sent in the header x-api-key; "" for none
	WebsiteParam string            // name of the website operation's input; default "url"
	ProductParam string            // name of the product operation's input; default "query"
	ParamIn      ParamIn           // place of the parameters; default InQuery
	Member       string            // path of the entries in an answer: names separated by dots, where {classification} stands for the classification's name; default {classification}
	CustomMember string            // member of an answer that holds a custom classification's entries; default: its name
	Retry        RetryPolicy       // of Categorize; default DefaultRetryPolicy
	Timeout      time.Duration     // of one attempt, header and body included; default 30 s, because a service may crawl a site first
	MostTimeout  time.Duration     // bound of Timeout, which doubles after every three attempts in a row that reach it; default Timeout, or 2 min if Timeout is not given
	Connections  int               // most open connections: give the number of requests in flight; default 32
	UserAgent    string            // default "bulkcat"
	Headers      []Header          // sent with every request; they may replace User-Agent and Accept
	RootCAs      *x509.CertPool    // trusted certificate authorities; default: the system's. See the function RootCAs
	Transport    http.RoundTripper // default: a pool of up to Connections, which uses RootCAs and Dial

	// Dial opens connections, as http.Transport.DialContext does; default: TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// WithDefaults returns the options with the defaults in place of fields that are not set.
func (o Options) WithDefaults() Options {
	o.WebsiteParam = cmp.Or(o.WebsiteParam, "url")
	o.ProductParam = cmp.Or(o.ProductParam, "query")
	o.ParamIn = cmp.Or(o.ParamIn, InQuery)
	if o.Retry.MaxAttempts == 0 {
		o.Retry = DefaultRetryPolicy()
	}
	if o.Timeout == 0 {
		o.Timeout, o.MostTimeout = 30*time.Second, cmp.Or(o.MostTimeout, mostPatience)
	}
	o.Connections = cmp.Or(o.Connections, 32)
	o.UserAgent = cmp.Or(o.UserAgent, "bulkcat")
	if o.Transport == nil {
		o.Transport = newTransport(o)
	}
	return o
}

// HTTP sends requests to a service over HTTP. It is safe for concurrent use.
type HTTP struct {
	options Options
	base    *url.URL
	header  http.Header // of every request; read-only
	secrets secrets
	bodies  *memory.Pool // bounds the memory of bodies
	patience
	standing  Standing
	diagnoser diagnoser
	leaves    atomic.Bool // idle connections are closed before the next request: they may be tied to a sick backend, or dead
}

// New returns a client. The error says which option cannot be used; it is an *[OptionError] for BaseURL, APIKey and
// Headers. New sends no request.
func New(options Options) (*HTTP, error) {
	o := options.WithDefaults()
	base, err := parseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	switch o.ParamIn {
	case InQuery, InForm, InJSON:
	default:
		return nil, fmt.Errorf("parameters cannot be sent in %q: choose query, form or json", o.ParamIn)
	}
	if err := checkMember(o.Member); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &OptionError{"APIKey", errors.New("the API key has a character that is not allowed in a header: check the API key")}
	}
	header, err := o.header()
	if err != nil {
		return nil, err
	}
	c := &HTTP{
		options: o, base: base, header: header, secrets: newSecrets(o.APIKey, o.Headers),
		bodies: memory.New(allBodies), patience: patience{first: o.Timeout, most: o.MostTimeout, current: o.Timeout},
	}
	c.diagnoser = diagnoser{next: c.exchange, usage: c.Usage, standing: &c.standing}
	return c, nil
}

// header returns the header of every request.
func (o Options) header() (http.Header, error) {
	h := make(http.Header, len(o.Headers)+3)
	for _, given := range o.Headers {
		if err := given.check(); err != nil {
			return nil, err
		}
		h.Add(given.Name, given.Value)
	}
	for name, value := range map[string]string{"User-Agent": o.UserAgent, "Accept": "application/json"} {
		if h.Get(name) == "" {
			h.Set(name, value)
		}
	}
	if o.APIKey != "" {
		h.Set(keyHeader, o.APIKey)
	}
	return h, nil
}

func parseBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, &OptionError{"BaseURL", errors.New("the base URL must look like https://api.example.com")}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, &OptionError{"APIKey", errors.New("the base URL must have no user name, password, query or fragment: give the API key separately")}
	}
	return u, nil
}

// Source returns the normalized base URL. It names the service in the keys of stored answers.
func (c *HTTP) Source() string { return c.base.String() }

// Hide returns text with the API key and the values of secret headers replaced by "[secret]".
func (c *HTTP) Hide(text string) string { return c.secrets.hide(text) }

// Close closes idle connections. Call it after the last request. A run also calls it when the service refuses everything.
func (c *HTTP) Close() {
	if t, ok := c.options.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// exchange sends a request once. The error is an *Error, or the cause of ctx.
func (c *HTTP) exchange(ctx context.Context, r Request) (Answer, error) {
	name := c.options.WebsiteParam
	if r.Kind == Product {
		name = c.options.ProductParam
	}
	answer, err := c.AskUnder(ctx, r, name)
	c.standing.note(r, answer, err)
	return answer, err
}

// AskUnder sends a request once, with the input in one parameter for each name: the service reads the parameter that it knows,
// and package client/probe finds out which. The error is an *Error, whose class follows from the status alone, or the cause of
// ctx. The caller passes the answer to [Release].
func (c *HTTP) AskUnder(ctx context.Context, r Request, names ...string) (Answer, error) {
	params := make([][2]string, 0, len(names)+1)
	for _, name := range names {
		params = append(params, [2]string{name, r.Input})
	}
	params = append(params, [2]string{"classification", r.Classification})
	req, err := c.newRequest("/api/v1/"+string(r.Kind)+"/categorization", params)
	if err != nil {
		return Answer{}, &Error{Class: Fatal, Err: err}
	}
	share, sent := c.bodies.Share(), time.Now()
	resp, body, err := c.do(ctx, req, r.Input, share)
	if e, ok := errors.AsType[*Error](err); err == nil || ok && e.Status != 0 {
		c.patience.answered(time.Since(sent))
	}
	if err != nil {
		share.Release()
		return Answer{}, err
	}
	if resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusResetContent {
		body = []byte("null")
	}
	answer, err := c.options.parse(body, r.Classification)
	if err == nil && len(answer.Entries) == 0 && reply.IsSpent(resp.StatusCode, body, 0, r.Input) {
		err = errNoEntries
	}
	if err != nil {
		share.Release()
		return Answer{}, c.misfit(resp.StatusCode, body, r, err)
	}
	c.secrets.hideBeside(&answer, r.Classification)
	answer.AnsweredAt = time.Now().UTC().Truncate(time.Microsecond)
	answer.Status = resp.StatusCode
	answer.Shared = isShared(resp.Header)
	answer.Limit = reply.LimitOf(resp.Header, time.Now())
	answer.share = share
	return answer, nil
}

// newRequest builds a GET with the parameters at Options.ParamIn. The interface defines its operations as GET, so InForm and
// InJSON send a GET with a body.
func (c *HTTP) newRequest(path string, params [][2]string) (*http.Request, error) {
	u := *c.base
	u.Path += path
	req := &http.Request{
		Method: http.MethodGet, URL: &u, Host: u.Host, Header: c.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if len(params) == 0 {
		return req, nil
	}
	switch c.options.ParamIn {
	case InJSON:
		object := make(map[string]string, len(params))
		for _, p := range params {
			object[p[0]] = p[1]
		}
		body, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		c.setBody(req, body, "application/json")
	case InForm:
		c.setBody(req, []byte(encodeParams(params)), "application/x-www-form-urlencoded")
	default:
		u.RawQuery = encodeParams(params)
	}
	return req, nil
}

func (c *HTTP) setBody(req *http.Request, body []byte, contentType string) {
	req.Header = c.header.Clone()
	req.Header.Set("Content-Type", contentType)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil } // for a connection that has been closed
	req.Body, _ = req.GetBody()
}

func encodeParams(params [][2]string) string {
	var b strings.Builder
	b.Grow(128) // enough for nearly all inputs
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p[0]))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p[1]))
	}
	return b.String()
}

// do makes one attempt and returns the response and body of an answer (see reply.IsAnswer). The error is an *Error, or the cause
// of ctx. input is the request's input, which the service's messages may repeat. The caller releases share, which counts the
// body's memory.
func (c *HTTP) do(ctx context.Context, req *http.Request, input string, share *memory.Share) (resp *http.Response, body []byte, err error) {
	if c.leaves.Swap(false) {
		c.Close()
	}
	attempt := newAttempt(ctx, c.patience.timeout(), &c.leaves)
	defer attempt.end()
	resp, err = c.send(req.WithContext(attempt))
	if err != nil {
		return nil, nil, c.exchangeError(attempt, err)
	}
	defer resp.Body.Close()
	if !reply.IsAnswer(resp.StatusCode) {
		return nil, nil, c.statusError(attempt, resp, input, share)
	}
	if body, err = readBody(attempt, resp, share); err != nil {
		return nil, nil, c.exchangeError(attempt, err)
	}
	attempt.judge(reply.IsPage(body))
	return resp, c.secrets.hideInAnswer(body), nil
}

// statusError returns the error of a response that is not an answer. The status decides even if the body
// cannot be read to its end.
func (c *HTTP) statusError(t *attempt, resp *http.Response, input string, share *memory.Share) error {
	body := readErrorBody(t, resp, share)
	if t.parent.Err() != nil {
		return context.Cause(t.parent)
	}
	limit := reply.LimitOf(resp.Header, time.Now())
	e := &Error{
		Class: classOf(resp.StatusCode), Status: resp.StatusCode, RetryAfter: reply.Wait(resp.Header, body, limit, time.Now()),
		Limit: limit, Detail: c.snippet(body), Page: reply.IsPage(body), Shared: isShared(resp.Header), input: input,
	}
	e.spent = reply.IsSpent(e.Status, body, e.RetryAfter, input)
	if e.Class == Rejected && (resp.Header.Get("Retry-After") != "" || e.refusal().Says(reply.LimitWords) || e.spent) {
		e.Class = Transient // limiters use any 4xx status, such as 400, 409, 420 and 423
	}
	t.judge(e.Status != http.StatusAccepted && (e.Class != Rejected || e.Page))
	return e
}

// exchangeError returns the error of an attempt that got no whole response.
func (c *HTTP) exchangeError(t *attempt, err error) error {
	if t.parent.Err() != nil {
		return context.Cause(t.parent)
	}
	cause := context.Cause(t.Context)
	if cause == errTimeout {
		t.hangs()
		return &Error{Class: Transient, Err: c.patience.expired(t.timeout)}
	}
	if broken, ok := cause.(*brokenError); ok {
		err = broken.error
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // the text of a url.Error repeats the whole URL with the input
	}
	e := exchangeError(err)
	e.Err = c.secrets.hideIn(e.Err) // net/http quotes malformed responses
	return e
}
