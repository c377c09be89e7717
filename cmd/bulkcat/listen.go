package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline/live"
)

// listenFlags say where a run or a service shows its page.
type listenFlags struct {
	addr   string
	server *live.Server // nil without a page
}

// open begins to listen, and prints the URL of the page. what is "run" or "service".
func (f *listenFlags) open(c *terminal.Console, what string) (err error) {
	if f.addr == "" {
		return nil
	}
	addr, err := addressOf(f.addr)
	if err == nil {
		f.server, err = live.Listen(addr)
	}
	if err != nil {
		return &usageError{fmt.Errorf("--listen: %w", err)}
	}
	fmt.Fprintf(c, "the %s is shown at %s\n", what, f.server.URL())
	return nil
}

// addressOf returns HOST:PORT. If the text is only a port, the host is 127.0.0.1.
func addressOf(text string) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		return "127.0.0.1:" + text, nil
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		return "", fmt.Errorf("%q is no address: write HOST:PORT or a port, such as 127.0.0.1:9464 or 9464", text)
	}
	return text, nil
}

// show shows a source until ended is called.
func (f *listenFlags) show(source live.Source) (ended func()) {
	if f.server == nil {
		return func() {}
	}
	f.server.Show(source)
	return f.server.Watch()
}

func (f *listenFlags) close() error {
	if f.server == nil {
		return nil
	}
	return f.server.Close()
}

// tlsFlags name the certificate of a service, and its key.
type tlsFlags struct {
	certFile, keyFile string

	certificate atomic.Pointer[tls.Certificate]
}

func (f *tlsFlags) options() []option {
	return []option{
		{name: "tls-cert", to: &f.certFile, help: "speak TLS, with the certificates in `FILE` (PEM), the certificate of the service first; read again on SIGHUP"},
		{name: "tls-key", to: &f.keyFile, help: "the private key of --tls-cert, in `FILE` (PEM)"},
	}
}

// load reads the files. After an error the earlier certificate stays in use.
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

// over returns a listener that speaks TLS if there is a certificate, and the scheme of its URLs. Without a certificate it warns
// of an address that other machines can reach.
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
