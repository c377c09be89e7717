package client

import (
	"context"
	"net"
	"sync/atomic"
)

// dialer opens connections: see Options.Dial.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// watched wraps the connections of a dialer in conn.
func watched(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: c}, nil
	}
}

// conn is a connection that keeps net/http from sending a request twice. When a kept-alive connection fails after a GET was
// written, net/http sends the GET again by itself, although the service may have charged for it. conn ends the attempt before
// that, and the failure counts for limits and retries. net/http still resends a request that was not written.
type conn struct {
	net.Conn
	owner  atomic.Pointer[attempt] // the attempt whose request the connection carries; nil for none, and for HTTP/2
	wrote  atomic.Bool             // a part of the owner's request was written
	failed atomic.Int32            // failures since the last answer that the connection carried
}

// mostFailed is the number of failures in a row after which a connection is not used again. A load balancer may have tied it to a
// backend that is sick, whose failures come sooner than answers, so that net/http would use it more than the others. One failure
// is common, and a new connection costs a TLS handshake.
const mostFailed = 2

// Read ends the attempt before net/http sees that the connection has failed.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	switch {
	case c.owner.Load() == nil:
	case n > 0: // a response has begun
		c.owner.Store(nil)
	case err != nil && c.wrote.Load():
		if owner := c.owner.Swap(nil); owner != nil {
			owner.cancel(&brokenError{err})
		}
	}
	return n, err
}

// Write records that a part of the request was written. It records this before the write, because the service may
// read the request and close the connection before the write returns.
func (c *conn) Write(b []byte) (int, error) {
	if c.wrote.Load() {
		return c.Conn.Write(b)
	}
	c.wrote.Store(true)
	n, err := c.Conn.Write(b)
	if n == 0 {
		c.wrote.Store(false)
	}
	return n, err
}
