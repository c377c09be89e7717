package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// transport asks over HTTP/2 where the service speaks it. Each request that finds no
// connection dials one, and a service that ends connections after 100 requests would have as
// many TLS handshakes as there are requests in flight. So few connections may be open until a
// response shows that the service speaks HTTP/1.1.
type transport struct {
	few, many *http.Transport
	http1     atomic.Bool // a response was HTTP/1.1
}

// fewConnections are enough for HTTP/2: each carries a hundred requests or more, and while one ends
// the others go on.
const fewConnections = 4

func newTransport(o Options) http.RoundTripper {
	many := newHTTPTransport(o, o.Connections)
	if strings.HasPrefix(o.BaseURL, "http:") {
		return many
	}
	return &transport{few: newHTTPTransport(o, min(fewConnections, o.Connections)), many: many}
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.http1.Load() {
		return t.many.RoundTrip(req)
	}
	resp, err := t.few.RoundTrip(req)
	if err == nil && resp.ProtoMajor == 1 {
		t.http1.Store(true)
	}
	return resp, err
}

// CloseIdleConnections gives idle connections back.
func (t *transport) CloseIdleConnections() {
	t.few.CloseIdleConnections()
	t.many.CloseIdleConnections()
}

// streamBuffer is what net/http holds of a body that is not read yet, over HTTP/2: the least that it
// can be set to. Its own 4 MiB would be more than all that is read.
const streamBuffer = 64 << 10

// newHTTPTransport keeps connections alive, one for each request in flight. The standard
// default of two idle connections a host would open and close one for nearly every request.
// There is no time limit for the response's header alone: Options.Timeout covers all of it.
func newHTTPTransport(o Options, connections int) *http.Transport {
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           watched(dial),
		TLSClientConfig:       &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(0)},
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer},
		MaxIdleConns:          connections,
		MaxIdleConnsPerHost:   connections,
		MaxConnsPerHost:       connections,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusProxyAuthRequired {
				return errProxyAuth
			}
			return nil
		},
	}
}

// errProxyAuth lasts until somebody does something: without it net/http tells the refusal
// in words alone, and it would pass for an outage.
var errProxyAuth = errors.New("the proxy refuses: check the user and password in HTTPS_PROXY")

// LoadRootCAs gives the system's certificate authorities and those of a PEM file. The
// error names the file.
func LoadRootCAs(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err // names the file
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // a system without any: those of the file are all there is
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)", path)
	}
	return pool, nil
}

// send makes one exchange and follows the service's redirects. It goes to the transport
// without an http.Client, which would carry the x-api-key header, and others of our own, to
// any host.
func (c *HTTP) send(req *http.Request) (*http.Response, error) {
	const mostHops = 5
	for range mostHops {
		resp, err := c.options.Transport.RoundTrip(req)
		if err != nil || !isRedirect(resp.StatusCode) || c.options.ParamIn != InQuery {
			return resp, err
		}
		next, err := resp.Location()
		drain(resp)
		if err != nil {
			return nil, fmt.Errorf("the service redirects to nowhere: %w", err)
		}
		if next.Scheme != req.URL.Scheme || next.Host != req.URL.Host {
			return nil, &redirectError{from: req.URL.Scheme + "://" + req.URL.Host, to: next.Scheme + "://" + next.Host}
		}
		req = req.Clone(req.Context())
		req.URL = next
	}
	return nil, errRedirectLoop
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// drain reads what a body has left, within reason, which gives its connection back.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	_ = resp.Body.Close()
}
