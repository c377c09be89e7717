package clienttest

import (
	"fmt"
	"slices"
	"strings"
)

// Protocol is the version of HTTP of a [Lean] service, with or without TLS. A service has only one: a client cannot fall back
// to another. The zero value is HTTP1.
type Protocol int

const (
	HTTP1 Protocol = iota
	HTTP1TLS
	HTTP2TLS
)

var protocolNames = []string{HTTP1: "HTTP/1.1", HTTP1TLS: "HTTP/1.1 TLS", HTTP2TLS: "HTTP/2 TLS"}

// String is the name in tables, and the value of a flag.
func (p Protocol) String() string { return protocolNames[p] }

// Set takes the value of a flag.
func (p *Protocol) Set(text string) error {
	i := slices.Index(protocolNames, text)
	if i < 0 {
		return fmt.Errorf("choose one of %s", strings.Join(protocolNames, ", "))
	}
	*p = Protocol(i)
	return nil
}

// TLS reports whether the service needs a certificate.
func (p Protocol) TLS() bool { return p != HTTP1 }

// Scheme is the scheme of the service's URL.
func (p Protocol) Scheme() string {
	if p.TLS() {
		return "https"
	}
	return "http"
}

// Major is the major version of HTTP, as in http.Response.ProtoMajor.
func (p Protocol) Major() int {
	if p == HTTP2TLS {
		return 2
	}
	return 1
}
