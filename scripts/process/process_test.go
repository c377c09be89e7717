package process

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(t.Context(), exec.Command("sh", "-c", script), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEndings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		end    func(*Process) error // nil to wait
		status int
		killed bool
		log    string
	}{
		"complete":         {"echo done", nil, 0, false, "done"},
		"failed":           {"echo out of luck >&2; exit 3", nil, 3, false, "out of luck"},
		"killed":           {"exec sleep 600", func(p *Process) error { p.Kill(); return nil }, -1, true, ""},
		"stopped":          {"exec sleep 600", func(p *Process) error { return p.Stop(syscall.SIGTERM) }, -1, false, ""},
		"stopped too late": {"exit 0", func(p *Process) error { _ = p.Wait(); return p.Stop(syscall.SIGTERM) }, 0, false, ""},
		"another signal":   {"kill -SEGV $$", nil, -1, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, tt.script)
			if tt.end != nil {
				if err := tt.end(p); err != nil {
					t.Error(err)
				}
			}
			if p.Status() != tt.status || p.Killed() != tt.killed || strings.TrimSpace(p.Log()) != tt.log {
				t.Errorf("exit status %d, killed %v, log %q", p.Status(), p.Killed(), p.Log())
			}
			if (p.Wait() == nil) != (tt.status == 0) {
				t.Errorf("the error is %v", p.Wait())
			}
		})
	}
}

func TestContextEndsTheProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, exec.Command("sleep", "600"), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if !p.Killed() {
		t.Error("it was not killed")
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	match, err := start(t, "echo the page is at http://a; exec sleep 600").AwaitLog(regexp.MustCompile(`at (http://.*)`))
	if err != nil || len(match) != 2 || match[1] != "http://a" {
		t.Errorf("got %q, %v", match, err)
	}
	if _, err := start(t, "echo no luck; exit 1").AwaitLog(regexp.MustCompile("page")); err == nil || !strings.Contains(err.Error(), "has ended (exit status 1): no luck") {
		t.Errorf("a process that ends: %v", err)
	}
}

func TestFreeAddr(t *testing.T) {
	first, err := FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	if Listening(first)() == nil {
		t.Errorf("something listens on %s", first)
	}
	listener, err := net.Listen("tcp", first)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := Listening(first)(); err != nil {
		t.Error(err)
	}
	if second, err := FreeAddr(); second == first || err != nil {
		t.Errorf("the second is %s, %v", second, err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("BULKCAT_STORE", "/elsewhere")
	if slices.Contains(Without("BULKCAT"), "BULKCAT_STORE=/elsewhere") || !slices.Contains(Without("AWS_"), "BULKCAT_STORE=/elsewhere") {
		t.Error("other variables are left out")
	}
	if env := Isolated("/home", "KEY=1"); !slices.Contains(env, "HOME=/home") || !slices.Contains(env, "KEY=1") || slices.Contains(env, "BULKCAT_STORE=/elsewhere") {
		t.Errorf("got %q", env)
	}
}
