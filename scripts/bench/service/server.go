package service

import (
	"crypto/tls"
	"net"
	"time"
)

// Options describe a service.
type Options struct {
	Latency     time.Duration // of a categorization, on average
	Spread      time.Duration // around the latency, evenly on both sides
	Protocol    Protocol
	Certificate tls.Certificate // of a protocol with TLS
}

// Serve answers all connections of a listener until the listener is closed, and returns its
// error. It answers HTTP/1.1 without the server of net/http, which takes so much processor time
// that clients would wait for it.
func Serve(l net.Listener, options Options) error {
	switch options.Protocol {
	case HTTP2TLS:
		return serveHTTP2(l, options)
	case HTTP1TLS:
		l = tls.NewListener(l, &tls.Config{
			Certificates: []tls.Certificate{options.Certificate},
			NextProtos:   []string{"http/1.1"},
		})
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go newSession(conn, options).serve()
	}
}
