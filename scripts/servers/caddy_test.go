package servers

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// caddyServer is a running Caddy, which is a tool of this module.
type caddyServer struct {
	Addr string // HOST:PORT, for HTTPS

	admin  string // HOST:PORT
	config string
}

// Caddy keeps nothing outside its folder, and listens on no other port.
const caddyfile = `{
	admin ADMIN
	storage file_system DIR
	persist_config off
	skip_install_trust
	auto_https disable_redirects
	log {
		output discard
	}
	servers {
		protocols h1 h2
	}
}

https://ADDR {
	bind 127.0.0.1
	tls CERT KEY
	reverse_proxy UPSTREAM {
		transport http {
			keepalive_idle_conns_per_host 1024
		}
	}
}
`

// startCaddy runs Caddy as a TLS proxy with HTTP/2 before the upstream HOST:PORT until the test
// ends.
func startCaddy(t testing.TB, binary, dir, upstream string, tls authorityFiles) *caddyServer {
	t.Helper()
	s := &caddyServer{Addr: run.FreeAddr(t), admin: run.FreeAddr(t)}
	s.config = strings.NewReplacer("ADMIN", s.admin, "DIR", dir, "ADDR", s.Addr, "CERT", tls.Cert, "KEY", tls.Key, "UPSTREAM", upstream).Replace(caddyfile)
	path := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(path, []byte(s.config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "run", "--config", path)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	run.Serve(t, cmd, s.Addr)
	return s
}

// URL is the base URL of the server.
func (s *caddyServer) URL() string { return "https://" + s.Addr }

// Reload lets Caddy load its configuration again, although the configuration is the same.
func (s *caddyServer) Reload() error {
	request, err := http.NewRequest(http.MethodPost, "http://"+s.admin+"/load", strings.NewReader(s.config))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "text/caddyfile")
	request.Header.Set("Cache-Control", "must-revalidate")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		return fmt.Errorf("reloading Caddy: %s: %s", response.Status, body)
	}
	return nil
}
