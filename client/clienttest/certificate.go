package clienttest

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
)

// Certificate returns the self-signed certificate of net/http/httptest, which is for 127.0.0.1. authority is the same certificate
// in PEM form, for the client to trust.
func Certificate() (certificate tls.Certificate, authority []byte) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return server.TLS.Certificates[0], pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
