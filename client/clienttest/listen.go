package clienttest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
)

// quiet discards the faults that the server of net/http would log.
var quiet = log.New(io.Discard, "", 0)

// Listen serves on a free port of the loopback interface until the caller calls close.
func (s *Server) Listen() (baseURL string, close func()) {
	e, err := NewEndpoint(s)
	if err != nil {
		panic(err) // like httptest.NewServer
	}
	return e.URL(), e.Close
}

// Endpoint is a service at an address of the loopback interface. Closing and opening it again keeps the address.
type Endpoint struct {
	*Server
	Addr string // HOST:PORT

	mu   sync.Mutex
	http *httptest.Server // nil while the endpoint is closed
}

// NewEndpoint serves on a free port until the caller calls Close.
func NewEndpoint(s *Server) (*Endpoint, error) {
	e := &Endpoint{Server: s, Addr: "127.0.0.1:0"}
	return e, e.Open()
}

// URL is the base URL of the service.
func (e *Endpoint) URL() string { return "http://" + e.Addr }

// Open listens on the address again.
func (e *Endpoint) Open() error {
	listener, err := net.Listen("tcp", e.Addr)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Addr = listener.Addr().String()
	e.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: e.Server, ErrorLog: quiet, ConnContext: connect}}
	e.http.Start()
	return nil
}

// Close closes the listener and all connections: clients get "connection refused".
func (e *Endpoint) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.http != nil {
		e.http.Listener.Close() // first, so that no connection begins after CloseClientConnections
		e.http.CloseClientConnections()
		e.http.Close()
		e.http = nil
	}
}

// Pipe serves over pipes in memory until the caller calls close. It is for tests with testing/synctest, whose clock does not
// advance while goroutines wait for real sockets. dial connects to the service at any address.
func (s *Server) Pipe() (dial func(ctx context.Context, network, address string) (net.Conn, error), close func()) {
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: s, ErrorLog: quiet, ConnContext: connect}
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
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
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
