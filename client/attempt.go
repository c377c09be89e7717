package client

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"time"
)

// attempt is the context of one attempt. It ends after the attempt's timeout, or when the connection that carries the request
// fails.
type attempt struct {
	context.Context
	parent context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer

	timeout time.Duration
	conn    *conn // carries the request; nil for HTTP/2, and until there is a connection
}

// brokenError is the cause of an attempt whose connection failed after the request was written. The
// service may have processed the request and charged for it.
type brokenError struct{ error }

// newAttempt starts the timeout. The caller ends the attempt with end.
func newAttempt(parent context.Context, timeout time.Duration) *attempt {
	t := &attempt{parent: parent, timeout: timeout}
	t.Context, t.cancel = context.WithCancelCause(parent)
	t.Context = httptrace.WithClientTrace(t.Context, &httptrace.ClientTrace{GotConn: t.gotConn})
	t.timer = time.AfterFunc(timeout, func() { t.cancel(errTimeout) })
	return t
}

// gotConn records the connection that carries the request.
func (t *attempt) gotConn(info httptrace.GotConnInfo) {
	t.leaveConn()
	carrier := info.Conn
	secure, isTLS := carrier.(*tls.Conn)
	if isTLS {
		carrier = secure.NetConn()
	}
	c, ok := carrier.(*conn)
	if !ok || isTLS && c.isShared(secure) {
		return
	}
	if info.Reused && c.failed.Load() >= mostFailed {
		_ = c.Close() // net/http takes another connection, because it has not written the request
		return
	}
	t.conn = c
	c.wrote.Store(false)
	c.owner.Store(t)
}

// judge records whether the response on the connection is a failure.
func (t *attempt) judge(isFailure bool) {
	switch {
	case t.conn == nil:
	case isFailure:
		t.conn.failed.Add(1)
	default:
		t.conn.failed.Store(0)
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
