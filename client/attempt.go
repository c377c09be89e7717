package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// attempt is the context of one attempt. It ends after the attempt's timeout, or when the connection that carries the request
// fails.
type attempt struct {
	context.Context
	parent context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer

	leaves  *atomic.Bool // HTTP.leaves
	timeout time.Duration
	conn    *conn // carries the request; nil for HTTP/2, and until there is a connection
	shared  *conn // carries the request over HTTP/2; nil for HTTP/1.1
	wasIdle bool  // the connection was idle for longer than briefIdle
}

// brokenError is the cause of an attempt whose connection failed after the request was written. The
// service may have processed the request and charged for it.
type brokenError struct{ error }

// newAttempt starts the timeout. The caller ends the attempt with end.
func newAttempt(parent context.Context, timeout time.Duration, leaves *atomic.Bool) *attempt {
	t := &attempt{parent: parent, timeout: timeout, leaves: leaves}
	t.Context, t.cancel = context.WithCancelCause(parent)
	t.Context = httptrace.WithClientTrace(t.Context, &httptrace.ClientTrace{GotConn: t.gotConn})
	t.timer = time.AfterFunc(timeout, func() { t.cancel(errTimeout) })
	return t
}

// gotConn records the connection that carries the request.
func (t *attempt) gotConn(info httptrace.GotConnInfo) {
	t.leaveConn()
	t.shared, t.wasIdle = nil, info.IdleTime > briefIdle
	carrier, isHTTP2 := info.Conn, false
	if secure, isTLS := carrier.(*tls.Conn); isTLS {
		carrier, isHTTP2 = secure.NetConn(), secure.ConnectionState().NegotiatedProtocol == "h2"
	}
	c, ok := carrier.(*conn)
	switch {
	case !ok:
	case isHTTP2: // it reports itself which requests the service has not processed
		t.shared = c
	case info.Reused && c.failed.Load() >= mostFailed:
		_ = c.Close() // net/http takes another connection, because it has not written the request
	default:
		t.conn = c
		c.wrote.Store(false)
		c.owner.Store(t)
	}
}

// briefIdle is the longest idle time after which a connection is surely alive. A firewall may forget a connection that was idle for
// longer: then requests hang.
const briefIdle = time.Second

// judge records whether the attempt has failed on its connection. After failures in a row, a connection of HTTP/1.1 is closed before
// its next request. net/http cannot leave a single connection of HTTP/2, so judge has all idle connections closed.
func (t *attempt) judge(isFailure bool) {
	c := cmp.Or(t.conn, t.shared)
	switch {
	case c == nil:
	case !isFailure:
		c.failed.Store(0)
	case c.failed.Add(1) >= mostFailed && c == t.shared:
		t.leaves.Store(true)
	}
}

// hangs is judge for an attempt that got no response in time. Other connections that were idle may be dead, too.
func (t *attempt) hangs() {
	t.judge(true)
	if t.wasIdle {
		t.leaves.Store(true)
	}
}

func (t *attempt) leaveConn() {
	if t.conn != nil {
		t.conn.owner.CompareAndSwap(t, nil)
		t.conn = nil
	}
}

// end frees the attempt's resources.
func (t *attempt) end() {
	t.leaveConn()
	t.timer.Stop()
	t.cancel(nil)
}
