// Package authority writes a certificate for 127.0.0.1, for servers that read it from files.
package authority

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// Files are the paths of PEM files.
type Files struct {
	CA   string // the authority's certificate, for clients: the server's own
	Cert string // the server's certificate
	Key  string // the server's key
}

// New writes the files of a new certificate into dir.
func New(t testing.TB, dir string) Files {
	t.Helper()
	certificate, authority, err := clienttest.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	files := Files{CA: filepath.Join(dir, "cert.pem"), Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for path, content := range map[string][]byte{
		files.Cert: authority,
		files.Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
