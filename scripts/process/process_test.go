package process

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
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

func TestComplete(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"exit 0": "", "exit 3": "", "echo no luck; exit 1": "sh: exit status 1: no luck", "kill -SEGV $$": "segmentation fault"} {
		if err := start(t, script).Complete(3); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", script, err)
		}
	}
	if cpu, peak := start(t, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").Used(); cpu <= 0 || runtime.GOOS == "linux" && peak <= 0 {
		t.Errorf("it used %v and %d bytes", cpu, peak)
	}
}

func TestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := os.WriteFile(path, []byte("record,input\n1,\"a,\nb\"\n2,\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	rows, err := Rows(path)
	if want := []map[string]string{{"record": "1", "input": "a,\nb"}, {"record": "2", "input": ""}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("got %v, %v", rows, err)
	}
	if _, err := Rows(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
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
	cmd := Bulkcat("/bin/bulkcat", "/home", "http://a", "k", "--help")
	if env := cmd.Env; cmd.Dir != "/home" || !slices.Contains(env, "HOME=/home") || !slices.Contains(env, "BULKCAT_BASE_URL=http://a") || slices.Contains(env, "BULKCAT_STORE=/elsewhere") {
		t.Errorf("got %q", env)
	}
}
