package run

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// Service starts a service that lasts until the test ends.
func Service(t testing.TB, options clienttest.Options) *clienttest.Endpoint {
	t.Helper()
	service, err := clienttest.NewEndpoint(clienttest.New(options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	return service
}

// FreeAddr returns an address HOST:PORT that nothing listens on, another one in each call.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, err := process.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// Serve runs another server in the folder cmd.Dir until the test ends, and waits until the server accepts connections on
// addr. The folder gets what the server prints.
func Serve(t testing.TB, cmd *exec.Cmd, addr string) *process.Process {
	t.Helper()
	p, err := process.Start(context.WithoutCancel(t.Context()), cmd, filepath.Join(cmd.Dir, "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(syscall.SIGTERM); err != nil {
			t.Log(err)
		}
	})
	if err := p.Ready(process.Listening(addr)); err != nil {
		t.Fatal(err)
	}
	return p
}
