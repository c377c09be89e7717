package servers

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// authorityFiles are the paths of PEM files of a certificate for 127.0.0.1.
type authorityFiles struct {
	CA   string // the authority's certificate, for clients: the server's own
	Cert string // the server's certificate
	Key  string // the server's key
}

// newAuthority writes the files of a new certificate into dir.
func newAuthority(t testing.TB, dir string) authorityFiles {
	t.Helper()
	certificate, authority, err := clienttest.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	files := authorityFiles{CA: filepath.Join(dir, "cert.pem"), Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
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
