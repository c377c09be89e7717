package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
)

// tlsFlags name the certificate of a service, and its key.
type tlsFlags struct {
	certFile, keyFile string

	certificate atomic.Pointer[tls.Certificate]
}

func (f *tlsFlags) options() []option {
	return []option{
		{name: "tls-cert", to: &f.certFile, help: "speak TLS, with the certificates in `FILE` (PEM), that of the service first; read again on SIGHUP"},
		{name: "tls-key", to: &f.keyFile, help: "the private key of --tls-cert, in `FILE` (PEM)"},
	}
}

// load reads the files. After an error the certificate stays as it is.
func (f *tlsFlags) load() error {
	switch {
	case f.certFile == "" && f.keyFile == "":
		return nil
	case f.certFile == "" || f.keyFile == "":
		return errors.New("--tls-cert, --tls-key: give both")
	}
	certificate, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", f.certFile, f.keyFile, err)
	}
	f.certificate.Store(&certificate)
	return nil
}

// over returns a listener that speaks TLS if there is a certificate, and the scheme of its URLs. Without one it warns of
// an address that other machines reach.
func (f *tlsFlags) over(listener net.Listener, log *slog.Logger) (_ net.Listener, scheme string) {
	if f.certificate.Load() != nil {
		return tls.NewListener(listener, &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.certificate.Load(), nil },
		}), "https"
	}
	if addr, err := netip.ParseAddrPort(listener.Addr().String()); err != nil || !addr.Addr().IsLoopback() {
		log.Warn("API keys and inputs cross the network without encryption: give --tls-cert and --tls-key, or let a proxy speak TLS", "addr", listener.Addr().String())
	}
	return listener, "http"
}
