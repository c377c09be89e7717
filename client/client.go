package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Categorizer answers requests. An error is an *Error, or the context's.
type Categorizer interface {
	Categorize(context.Context, Request) (Answer, error)
}

// ParamIn is the place of a request's parameters.
type ParamIn string

// The places that services are known to read parameters from.
const (
	InQuery ParamIn = "query"
	InForm  ParamIn = "form" // the body, application/x-www-form-urlencoded
	InJSON  ParamIn = "json" // the body, a JSON object
)

// Options describe a service.
type Options struct {
	BaseURL      string            // scheme, host and the path before /api; no query
	APIKey       string            // sent as x-api-key, and nowhere else
	WebsiteParam string            // name of the website operation's input; default "url"
	ProductParam string            // name of the product operation's input; default "query"
	ParamIn      ParamIn           // default InQuery
	Timeout      time.Duration     // for one attempt, body included; default 60s: slow sites are crawled while we wait
	Connections  int               // kept alive; as many as there are workers; default 32
	UserAgent    string            // default "bulkcat"
	Transport    http.RoundTripper // default: a pool of Connections; the embedded service and tests bring their own
	InProcess    bool              // the service runs here and charges nothing: its CostHeader is believed
}

func (o Options) withDefaults() Options {
	o.WebsiteParam = or(o.WebsiteParam, "url")
	o.ProductParam = or(o.ProductParam, "query")
	o.ParamIn = or(o.ParamIn, InQuery)
	o.Timeout = or(o.Timeout, time.Minute)
	o.Connections = or(o.Connections, 32)
	o.UserAgent = or(o.UserAgent, "bulkcat")
	if o.Transport == nil {
		o.Transport = newTransport(o.Connections)
	}
	return o
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// newTransport keeps one connection alive for each worker. The standard default of two
// idle connections a host would open and close one for nearly every request.
func newTransport(connections int) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          connections,
		MaxIdleConnsPerHost:   connections,
		MaxConnsPerHost:       connections,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// HTTP is a Categorizer that asks a service. It makes one attempt for each call and is
// safe for concurrent use.
type HTTP struct {
	options Options
	base    *url.URL
	header  http.Header // the same for every request; never written to
	http    *http.Client
}

// New checks the options and gives a client. It makes no request.
func New(options Options) (*HTTP, error) {
	o := options.withDefaults()
	base, err := parseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	switch o.ParamIn {
	case InQuery, InForm, InJSON:
	default:
		return nil, fmt.Errorf("parameters cannot be sent in %q: choose query, form or json", o.ParamIn)
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key has a character that no header can carry: check BULKCAT_API_KEY or --api-key-file")
	}
	header := http.Header{"User-Agent": {o.UserAgent}, "Accept": {"application/json"}}
	if o.APIKey != "" {
		header.Set("X-Api-Key", o.APIKey)
	}
	return &HTTP{
		options: o, base: base, header: header,
		http: &http.Client{Transport: o.Transport, CheckRedirect: stayOnHost},
	}, nil
}

func parseBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, errors.New("the base URL must look like https://api.example.com: check --base-url or BULKCAT_BASE_URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL must have no user name, password, query or fragment: the key goes into BULKCAT_API_KEY")
	}
	return u, nil
}

// stayOnHost follows a redirect within the service only: net/http would carry the
// x-api-key header to any host.
func stayOnHost(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	if req.URL.Scheme != from.Scheme || req.URL.Host != from.Host {
		return &redirectError{from: from.Scheme + "://" + from.Host, to: req.URL.Scheme + "://" + req.URL.Host}
	}
	if len(via) >= 5 {
		return errRedirectLoop
	}
	return nil
}

// Source names the service whose answers these are, for keys of stored answers.
func (c *HTTP) Source() string { return c.base.String() }

// Close gives idle connections back.
func (c *HTTP) Close() { c.http.CloseIdleConnections() }

// Categorize asks once.
func (c *HTTP) Categorize(ctx context.Context, r Request) (Answer, error) {
	param := c.options.WebsiteParam
	if r.Kind == Product {
		param = c.options.ProductParam
	}
	req, err := c.newRequest("/api/v1/"+string(r.Kind)+"/categorization", [][2]string{{param, r.Input}, {"classification", r.Classification}})
	if err != nil {
		return Answer{}, &Error{Class: Fatal, Err: err}
	}
	resp, body, err := c.do(ctx, req)
	if err != nil {
		return Answer{}, err
	}
	entries, err := ParseEntries(body, r.Classification)
	if err != nil { // a page of HTML, a truncated body: a broken service, not an answer
		return Answer{}, &Error{Class: Transient, Status: resp.StatusCode, Err: err, Detail: c.snippet(body)}
	}
	return Answer{Entries: entries, Body: body, Limit: parseRateLimit(resp.Header, time.Now()), AnsweredAt: time.Now().UTC().Truncate(time.Microsecond), Free: c.options.InProcess && resp.Header.Get(CostHeader) == CostNone}, nil
}

// CostHeader is set by the embedded service to say what an answer took to get:
// CostNone where nothing but its machine's time.
const (
	CostHeader = "X-Bulkcat-Cost"
	CostNone   = "none"
)

// newRequest builds a GET with the parameters in their place. The operations are GET
// by contract, so a body, where configured, travels with a GET too.
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
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}

func encodeParams(params [][2]string) string {
	var b strings.Builder
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

// do makes one exchange and gives the body of a 2xx response, or an *Error, or the
// caller's own context error.
func (c *HTTP) do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	attempt, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	resp, err := c.http.Do(req.WithContext(attempt))
	if err != nil {
		return nil, nil, c.exchangeError(ctx, err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp)
	if err != nil {
		return nil, nil, c.exchangeError(ctx, err)
	}
	limit := parseRateLimit(resp.Header, time.Now())
	if resp.StatusCode/100 != 2 || resp.StatusCode == http.StatusAccepted {
		return nil, nil, &Error{
			Class: classOf(resp.StatusCode), Status: resp.StatusCode,
			RetryAfter: retryWait(resp.Header, body, limit, time.Now()), Limit: limit, Detail: c.snippet(body),
		}
	}
	return resp, body, nil
}

func (c *HTTP) exchangeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // its text repeats the whole URL, input included
	}
	return exchangeError(err)
}

// maxBody is far above any answer (a list of 703 entries is 60 kB); it only keeps an
// endless body from filling the memory.
const maxBody = 16 << 20

var errBodyTooLarge = errors.New("the service's answer is over 16 MiB")

func readBody(resp *http.Response) ([]byte, error) {
	size := resp.ContentLength
	if size < 0 || size > maxBody {
		size = 512
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, maxBody+1))
	if err == nil && n > maxBody {
		err = errBodyTooLarge
	}
	return buf.Bytes(), err
}

// snippet is the service's own words for an error message: its JSON message if it has
// one, else the head of the body; one line, and without the key should it be echoed.
func (c *HTTP) snippet(body []byte) string {
	const longest = 160
	text := strings.Join(strings.Fields(strings.ToValidUTF8(errorMessage(body, 2), "\ufffd")), " ")
	if c.options.APIKey != "" {
		text = strings.ReplaceAll(text, c.options.APIKey, "[API key]")
	}
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}

// errorMessage looks for the usual members of a JSON error body, down to some levels.
func errorMessage(body []byte, levels int) string {
	var members map[string]json.RawMessage
	if levels > 0 && json.Unmarshal(body, &members) == nil {
		for _, name := range []string{"message", "error", "detail", "error_description", "title"} {
			var text string
			if raw, ok := members[name]; ok {
				if json.Unmarshal(raw, &text) == nil && text != "" {
					return text
				}
				if len(raw) > 0 && raw[0] == '{' {
					return errorMessage(raw, levels-1)
				}
			}
		}
	}
	return string(body[:min(len(body), 1024)])
}
