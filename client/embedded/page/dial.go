package page

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

const (
	// resolveTimeout bounds one name lookup. Resolvers answer in well under a
	// second; without a network they can hang for half a minute.
	resolveTimeout = 3 * time.Second

	// maxAddresses is how many addresses of one name are tried: enough for a
	// broken one of each family and a second of each.
	maxAddresses = 4

	// streamBuffer bounds what is held of a page that is not read yet, over
	// HTTP/2: net/http's own 4 MiB are more than is read of any.
	streamBuffer = 256 << 10

	// maxHeaderBytes bounds a response's header; real ones stay under 16 KiB.
	maxHeaderBytes = 256 << 10
)

// lookupFunc has the shape of net.Resolver.LookupNetIP.
type lookupFunc func(ctx context.Context, network, host string) ([]netip.Addr, error)

// routes sends a request the way it has to go. Two transports, because the
// proxy is usually on the local network where a direct fetch must not go.
type routes struct {
	proxy   func(*http.Request) (*url.URL, error)
	direct  *http.Transport // guards the addresses it connects to
	proxied *http.Transport // connects to the proxy only
}

func newRoutes(opts Options, proxy func(*http.Request) (*url.URL, error), lookup lookupFunc) *routes {
	// An address that swallows packets must leave time for the next one.
	open := net.Dialer{Timeout: opts.Timeout / 2}
	guarded := open
	if !opts.AllowPrivate {
		guarded.Control = guard
	}
	resolve := min(resolveTimeout, opts.Timeout/2)
	r := &routes{
		proxy:   proxy,
		direct:  newTransport(&dialer{Dialer: guarded, lookup: lookup, timeout: resolve}),
		proxied: newTransport(&dialer{Dialer: open, lookup: lookup, timeout: resolve}),
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
		// A site is visited once: a connection is worth keeping for the hops of
		// one redirect and no longer.
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     5 * time.Second,
	}
}

// RoundTrip sends the request through the proxy where one is set for its URL,
// and directly where not.
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

// checkConnect names the proxy as the one who refused an https site.
func checkConnect(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &Error{Reason: Proxy, Err: fmt.Errorf("the proxy answered CONNECT with status %d", res.StatusCode)}
}

// dialer connects to the addresses of a name in turn, with a limit of its own
// on the lookup.
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
		// The resolver lists the address most likely to work first, so its
		// error says most.
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// resolve returns the addresses of a host, at least one; its errors are
// *net.DNSError, or the context's.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	limited, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	addrs, err := d.lookup(limited, "ip", host)
	var dns *net.DNSError
	switch {
	case err == nil && len(addrs) > 0:
		return addrs, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &dns):
		return nil, err
	case err != nil:
		return nil, &net.DNSError{Err: err.Error(), Name: host, IsTimeout: limited.Err() != nil}
	}
	return nil, &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
}
