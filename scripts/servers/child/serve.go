package child

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The ports are below those that systems give to the connections of clients, which could take one
// before its server listens.
const firstPort, ports = 20_000, 10_000

var (
	begin = rand.Uint32N(ports) // differs between processes
	calls atomic.Uint32
)

// FreeAddr returns an address HOST:PORT that nothing listens on, another one in each call.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range ports {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+(begin+calls.Add(1))%ports)
		if listener, err := net.Listen("tcp", addr); err == nil {
			_ = listener.Close()
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// Serve runs a server in the folder cmd.Dir until the test ends, and waits until the server
// accepts connections on addr. The folder gets what the server prints.
func Serve(t testing.TB, cmd *exec.Cmd, addr string) {
	t.Helper()
	log, err := os.Create(filepath.Join(cmd.Dir, "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = Attributes(syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { stop(t, cmd, ended) })
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s has ended (%v): %s", cmd.Path, err, printed(log.Name()))
		case <-time.After(20 * time.Millisecond):
		}
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return
		}
	}
	t.Fatalf("%s does not listen on %s: %s", cmd.Path, addr, printed(log.Name()))
}

// stop ends the server with SIGTERM, so that it ends its own children.
func stop(t testing.TB, cmd *exec.Cmd, ended <-chan error) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
		t.Logf("%s did not end within 10s of SIGTERM, and was killed", cmd.Path)
	}
}

// printed is for messages of errors.
func printed(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(content)
}
