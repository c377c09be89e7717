package clienttest

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Listen serves on a free port of the loopback interface until the caller calls close.
func (s *Server) Listen() (baseURL string, close func()) {
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	return server.URL, func() {
		server.CloseClientConnections()
		server.Close()
	}
}

// Pipe serves over pipes in memory until the caller calls close. It is for tests with testing/synctest, whose
// clock stands still while goroutines wait for real sockets. dial connects to the service at any address.
func (s *Server) Pipe() (dial func(ctx context.Context, network, address string) (net.Conn, error), close func()) {
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	return listener.dial, func() {
		_ = server.Close()
		serving.Wait()
	}
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
