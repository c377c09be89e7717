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
	"strings"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/reply"
)

// transport uses HTTP/2 if the service supports it. net/http dials a connection for each request that finds no free one. A
// service that closes HTTP/2 connections after 100 requests would then get a TLS handshake per request in flight. transport
// therefore opens few connections until a response uses HTTP/1.1.
type transport struct {
	few, many *http.Transport
	http1     atomic.Bool // a response has used HTTP/1.1
}

// fewConnections is enough for HTTP/2: a connection carries a hundred requests or more, and when one is closed, the others
// remain.
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

// CloseIdleConnections closes idle connections.
func (t *transport) CloseIdleConnections() {
	t.few.CloseIdleConnections()
	t.many.CloseIdleConnections()
}

// streamBuffer is the buffer for an unread body over HTTP/2, in bytes: the least that net/http allows. The
// default of 4 MiB per request would exceed allBodies.
const streamBuffer = 64 << 10

// pingAfter is the time without a frame after which a connection of HTTP/2 is tested. net/http closes it if the ping is not answered
// within 15 s. Without pings all requests would be sent on a dead connection until TCP gives it up, after a quarter of an hour.
const pingAfter = 15 * time.Second

// newHTTPTransport keeps a connection alive for each request in flight. With the default of two idle
// connections per host nearly every request would open a connection. Options.Timeout covers the response's
// header, which has no timeout of its own.
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
		HTTP2:                 &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer, SendPingTimeout: pingAfter},
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

// errProxyAuth makes the refusal of a proxy Fatal. The error of net/http would be Transient, because it has no type.
var errProxyAuth = errors.New("the proxy refuses: check the user and password in HTTPS_PROXY")

// RootCAs returns the system's certificate authorities and the authorities in the text of a PEM file, for Options.RootCAs.
func RootCAs(text []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil { // the system has no certificate authorities
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate in PEM form (-----BEGIN CERTIFICATE-----)")
	}
	return pool, nil
}

// send sends a request and follows redirects within the host. An http.Client would send the API key and the other headers to
// any host.
func (c *HTTP) send(req *http.Request) (*http.Response, error) {
	const mostHops = 5
	for range mostHops {
		resp, err := c.options.Transport.RoundTrip(req)
		if err != nil || !reply.IsRedirect(resp.StatusCode) || c.options.ParamIn != InQuery {
			return resp, err
		}
		next, err := resp.Location()
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrain) // frees the connection for the next request
		_ = resp.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("the service redirects without an address: %w", err)
		}
		if next.Scheme != req.URL.Scheme || next.Host != req.URL.Host {
			return nil, &OptionError{"BaseURL", fmt.Errorf("%s://%s redirects to %s://%s: if that is right, use it as the base URL",
				req.URL.Scheme, req.URL.Host, next.Scheme, next.Host)}
		}
		req = req.Clone(req.Context())
		req.URL = next
	}
	return nil, errRedirectLoop
}
