package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
)

// writeCertificate writes the files cert.pem and key.pem of a new certificate.
func writeCertificate(t *testing.T, dir string) *x509.Certificate {
	t.Helper()
	certificate, authority, err := clienttest.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"cert.pem": authority, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// A service speaks TLS, and takes another certificate at SIGHUP. Files that cannot be used change nothing.
func TestCertificateIsReadAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGHUP")
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// renew writes a certificate, and returns a client that trusts no other.
	renew := func() *http.Client {
		roots := x509.NewCertPool()
		roots.AddCert(writeCertificate(t, dir))
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true}}
	}
	first := renew()
	write("keys.txt", []byte("key-of-alice name=alice\n"))
	p := start(t, bulkcatCommand(t, dir, "", "serve", "--api-key-file", "keys.txt", "--addr", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem"))
	match, err := p.AwaitLog(regexp.MustCompile(`serves (https://\S+)`))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(client *http.Client) error {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, match[1]+embedded.ReadyPath, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); string(body) != `{"status":"up"}` || response.ProtoMajor != 2 {
			t.Errorf("%s with HTTP/%d, %v", body, response.ProtoMajor, err)
		}
		return nil
	}
	if err := ask(first); err != nil {
		t.Fatal(err)
	}
	second := renew()
	if ask(second) == nil {
		t.Error("the new certificate is used before SIGHUP")
	}
	sendAfter(t, p, syscall.SIGHUP, "")
	if _, err := p.AwaitLog(regexp.MustCompile(`certificate was read again.*cert\.pem valid_until=20[^\n]*\n.*keys were read again`)); err != nil {
		t.Fatal(err)
	}
	if err := ask(second); err != nil || ask(first) == nil {
		t.Errorf("after SIGHUP: %v", err)
	}
	write("cert.pem", []byte("no certificate"))
	sendAfter(t, p, syscall.SIGHUP, "")
	if _, err := p.AwaitLog(regexp.MustCompile(`certificate stays as it is.*cert\.pem`)); err != nil {
		t.Fatal(err)
	}
	if err := ask(second); err != nil {
		t.Error(err)
	}
	sendAfter(t, p, syscall.SIGTERM, "")
	wantStatus(t, p, exitComplete)
}
