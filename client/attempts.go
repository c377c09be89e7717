package client

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"time"
)

// attempts gives each attempt a context that ends after the time it may take.
//
// Nearly all attempts end sooner, and then their context serves the next: what a new one
// costs, with its timer and what net/http hangs on to it, is a tenth of an exchange.
type attempts struct {
	timeout time.Duration
	idle    chan *attempt
}

// attempt is a context, and what ends it.
type attempt struct {
	context.Context
	parent context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	conn   *conn // that carries the request; nil for HTTP/2 and before there is one
}

// brokenError ends an attempt whose connection has failed after the request was written. The
// service may have seen the request, and charged for it.
type brokenError struct{ error }

// timedOut says whether the attempt has taken longer than it may.
func (t *attempt) timedOut() bool { return context.Cause(t.Context) == errTimeout }

func newAttempts(timeout time.Duration, most int) attempts {
	return attempts{timeout: timeout, idle: make(chan *attempt, most)}
}

// begin starts the clock. The caller ends the attempt with end.
func (a *attempts) begin(parent context.Context) *attempt {
	select {
	case t := <-a.idle:
		if t.parent == parent {
			t.timer.Reset(a.timeout)
			return t
		}
		t.cancel(nil) // of another run
	default:
	}
	t := &attempt{parent: parent}
	t.Context, t.cancel = context.WithCancelCause(parent)
	t.Context = httptrace.WithClientTrace(t.Context, &httptrace.ClientTrace{GotConn: t.gotConn})
	t.timer = time.AfterFunc(a.timeout, func() { t.cancel(errTimeout) })
	return t
}

// gotConn takes note of the connection that carries the request.
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
	t.conn = c
	c.wrote.Store(false)
	c.owner.Store(t)
}

func (t *attempt) leaveConn() {
	if t.conn != nil {
		t.conn.owner.CompareAndSwap(t, nil)
		t.conn = nil
	}
}

// end stops the clock. Only what net/http has done with for sure may serve again: that of
// an exchange which was whole.
func (a *attempts) end(t *attempt, whole bool) {
	t.leaveConn()
	if t.timer.Stop() && whole && t.Err() == nil {
		select {
		case a.idle <- t:
			return
		default:
		}
	}
	t.cancel(nil)
}

// close ends what is kept for the next.
func (a *attempts) close() {
	for {
		select {
		case t := <-a.idle:
			t.cancel(nil)
		default:
			return
		}
	}
}
