// Package nginx runs nginx as a child process in a folder of its own. It uses only the program of
// the system's nginx.
package nginx

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/servers/child"
)

// Server is a running nginx.
type Server struct {
	Addr string // HOST:PORT

	dir      string
	binary   string
	config   Config
	upstream string
	cmd      *exec.Cmd
	done     chan error // gets the exit of cmd
}

// Start runs nginx in front of the upstream HOST:PORT until the test ends. Where nginx is not
// installed the test is skipped; where the environment has CI the test fails.
func Start(t testing.TB, dir, upstream string, config Config) *Server {
	t.Helper()
	s := &Server{Addr: child.FreeAddr(t), dir: dir, binary: find(t), config: config, upstream: upstream}
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
	s.cmd = exec.Command(s.binary, "-p", s.dir, "-e", "error.log", "-c", filepath.Join(s.dir, configName), "-g", "daemon off;")
	s.cmd.SysProcAttr = child.Attributes(syscall.SIGTERM)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.done = make(chan error, 1)
	go func(cmd *exec.Cmd, done chan<- error) { done <- cmd.Wait() }(s.cmd, s.done)
	return s.waitUntilUp()
}

func (s *Server) waitUntilUp() error {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		select {
		case err := <-s.done:
			s.cmd = nil
			return fmt.Errorf("nginx has ended (%v): %s", err, s.errorLog())
		default:
		}
		if conn, err := net.Dial("tcp", s.Addr); err == nil {
			return conn.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("nginx does not listen: %s", s.errorLog())
}

// Reload changes the configuration. Old workers finish their requests, and new ones take
// over.
func (s *Server) Reload(change func(*Config)) error {
	change(&s.config)
	if err := s.write(); err != nil {
		return err
	}
	return s.cmd.Process.Signal(syscall.SIGHUP)
}

// Stop ends nginx with SIGTERM, which drops open requests.
func (s *Server) Stop() error {
	if s.cmd == nil {
		return nil
	}
	defer func() { s.cmd = nil }()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
		return fmt.Errorf("nginx did not end within 10s: %s", s.errorLog())
	}
}

// errorLog is for messages of errors.
func (s *Server) errorLog() string {
	content, err := os.ReadFile(filepath.Join(s.dir, "error.log"))
	if err != nil {
		return err.Error()
	}
	return string(content)
}
