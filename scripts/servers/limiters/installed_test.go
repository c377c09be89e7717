package limiters

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// start runs a limiter in front of the service, or one that answers by itself, until the test
// ends. It returns the base URL, and skips the test where a program is missing.
type start func(t *testing.T, s *clienttest.Endpoint) string

// python runs a server of the folder python with the arguments that its settings.py has.
func python(script, rate, latency, status string) start {
	return func(t *testing.T, _ *clienttest.Endpoint) string {
		t.Helper()
		need(t, "python3", "python3 with its module venv")
		dir, err := installPython()
		if err != nil {
			t.Fatal(err)
		}
		return serve(t, func(port string) *exec.Cmd {
			return exec.Command(filepath.Join(dir, "bin", "python"), absolute(t, "python", script), port, rate, latency, status)
		})
	}
}

// node runs a server of the folder node with the arguments that its settings.js has.
func node(script, count, windowSeconds, option string) start {
	return func(t *testing.T, _ *clienttest.Endpoint) string {
		t.Helper()
		need(t, "npm", "Node.js 20 or later with npm")
		dir, err := installNode()
		if err != nil {
			t.Fatal(err)
		}
		return serve(t, func(port string) *exec.Cmd {
			cmd := exec.Command("node", absolute(t, "node", script), port, count, windowSeconds, option)
			cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
			return cmd
		})
	}
}

// need returns the path of a program, and skips the test without it.
func need(t *testing.T, program, install string) string {
	t.Helper()
	for _, name := range []string{program, "/usr/sbin/" + program} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed: install %s", program, install)
	return ""
}

// needFile skips the test without a file of a package.
func needFile(t *testing.T, path, install string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%v: install %s", err, install)
	}
}

// serve runs a server that gets its port.
func serve(t *testing.T, command func(port string) *exec.Cmd) string {
	t.Helper()
	addr := run.FreeAddr(t)
	cmd := command(addr[len("127.0.0.1:"):])
	cmd.Dir = t.TempDir()
	run.Serve(t, cmd, addr)
	return "http://" + addr
}

func absolute(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// installPython returns the virtual environment with requirements.txt.
var installPython = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(tools, "python")
	return dir, install(
		exec.Command("python3", "-m", "venv", dir),
		exec.Command(filepath.Join(dir, "bin", "pip"), "install", "-q", "-r", filepath.Join("python", "requirements.txt")),
	)
})

// installNode returns the folder with the packages of package.json.
var installNode = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(tools, "node")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	list, err := os.ReadFile(filepath.Join("node", "package.json"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), list, 0o644); err != nil {
		return "", err
	}
	return dir, install(exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir))
})

func install(commands ...*exec.Cmd) error {
	for _, cmd := range commands {
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, output)
		}
	}
	return nil
}
