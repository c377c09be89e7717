package page

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

const (
	// resolveTimeout is the time limit of a name lookup. Resolvers answer in well under a
	// second; without a network they can hang for half a minute.
	resolveTimeout = 3 * time.Second

	// maxAddresses is the most addresses of a name that are tried: about two of each family.
	maxAddresses = 4

	// streamBuffer is the most bytes of an unread body over HTTP/2. The default of net/http,
	// 4 MiB, is more than this package reads of a page.
	streamBuffer = 256 << 10

	// maxHeaderBytes is the most bytes of a response's header; real headers have under 16 KiB.
	maxHeaderBytes = 256 << 10
)

// lookupFunc has the shape of net.Resolver.LookupNetIP.
type lookupFunc func(ctx context.Context, network, host string) ([]netip.Addr, error)

// routes sends a request directly or through the proxy. Each way has its own transport: the proxy is usually on the local
// network, which direct fetches must not reach.
type routes struct {
	proxy   func(*http.Request) (*url.URL, error)
	direct  *http.Transport // guards the addresses it connects to
	proxied *http.Transport // connects to the proxy only
}

func newRoutes(opts Options, proxy func(*http.Request) (*url.URL, error), lookup lookupFunc) *routes {
	// An address that drops packets must leave time for the next address.
	open := net.Dialer{Timeout: Limit / 2}
	guarded := open
	if !opts.AllowPrivate {
		guarded.Control = guard
	}
	r := &routes{
		proxy:   proxy,
		direct:  newTransport(&dialer{Dialer: guarded, lookup: lookup, timeout: resolveTimeout}),
		proxied: newTransport(&dialer{Dialer: open, lookup: lookup, timeout: resolveTimeout}),
	}
	r.proxied.Proxy = proxy
	r.proxied.OnProxyConnectResponse = checkConnect
	r.proxied.MaxIdleConnsPerHost = r.proxied.MaxIdleConns // all connections lead to the proxy
	return r
}

func newTransport(d *dialer) *http.Transport {
	return &http.Transport{
		DialContext:            d.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer},
		TLSHandshakeTimeout:    d.Timeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		// A site is visited once: connections are kept only for the hops of a redirect.
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     5 * time.Second,
	}
}

// RoundTrip sends the request through the proxy if one is set for its URL, else directly.
func (r *routes) RoundTrip(req *http.Request) (*http.Response, error) {
	proxy, err := r.proxy(req)
	switch {
	case err != nil:
		return nil, &Error{Reason: Proxy, Err: err}
	case proxy != nil:
		return r.proxied.RoundTrip(req)
	}
	return r.direct.RoundTrip(req)
}

// checkConnect makes the proxy's refusal to connect to an https site an error of the proxy.
func checkConnect(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &Error{Reason: Proxy, Err: fmt.Errorf("the proxy answered CONNECT with status %d", res.StatusCode)}
}

// dialer connects to the first address of a name that accepts the connection. The lookup has its own time limit.
type dialer struct {
	net.Dialer
	lookup  lookupFunc
	timeout time.Duration
}

func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var first error
	for _, addr := range addrs[:min(len(addrs), maxAddresses)] {
		conn, err := d.Dialer.DialContext(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		// The resolver lists the likeliest address first, so the error of that address is the most useful.
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// resolve returns the addresses of a host, at least one. The error is a *net.DNSError or the context's error.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	limited, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	addrs, err := d.lookup(limited, "ip", host)
	switch {
	case err == nil && len(addrs) > 0:
		return addrs, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case is[*net.DNSError](err):
		return nil, err
	case err != nil:
		return nil, &net.DNSError{Err: err.Error(), Name: host, IsTimeout: limited.Err() != nil}
	}
	return nil, &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
}
