// Package nginx runs nginx as a child process in a folder of its own. It uses only the program of
// the system's nginx.
package nginx

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/scripts/process"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// Server is a running nginx.
type Server struct {
	Addr string // HOST:PORT

	dir      string
	binary   string
	config   Config
	upstream string
	process  *process.Process
}

// Start runs nginx in front of the upstream HOST:PORT until the test ends. Where nginx is not
// installed the test is skipped; where the environment has CI the test fails.
func Start(t testing.TB, dir, upstream string, config Config) *Server {
	t.Helper()
	s := &Server{Addr: run.FreeAddr(t), dir: dir, binary: find(t), config: config, upstream: upstream}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("nginx: %v", err)
		}
	})
	return s
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("nginx is not installed: apt-get install nginx-light")
	}
	t.Skip("nginx is not installed: apt-get install nginx-light")
	return ""
}

// URL is the base URL of the server.
func (s *Server) URL() string {
	if s.config.Plain {
		return "http://" + s.Addr
	}
	return "https://" + s.Addr
}

// Start writes the configuration, runs nginx, and waits until nginx accepts connections.
func (s *Server) Start() error {
	if err := s.write(); err != nil {
		return err
	}
	cmd := exec.Command(s.binary, "-p", s.dir, "-e", "error.log", "-c", filepath.Join(s.dir, configName), "-g", "daemon off;")
	var err error
	if s.process, err = process.Start(context.Background(), cmd, filepath.Join(s.dir, "error.log")); err != nil {
		return err
	}
	return s.process.Ready(process.Listening(s.Addr))
}

// Reload changes the configuration. Old workers finish their requests, and new ones take
// over.
func (s *Server) Reload(change func(*Config)) error {
	change(&s.config)
	if err := s.write(); err != nil {
		return err
	}
	return s.process.Signal(syscall.SIGHUP)
}

// Stop ends nginx with SIGTERM, which drops open requests.
func (s *Server) Stop() error { return s.process.Stop(syscall.SIGTERM) }
