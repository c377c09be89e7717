// Package run runs the bulkcat binary, reads its log, output and account, and runs the servers of a test.
package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// Options describe a run.
type Options struct {
	Binary      string
	Dir         string // of the input, the output and the log
	BaseURL     string
	CAFile      string // "" for none
	Inputs      []string
	Flags       []string
	Descriptors int           // the limit of open files; 0 for the system's
	Deadline    time.Duration // the run is killed after this time
}

// Key is the API key of all runs.
const Key = "test-key"

// Run is a child process that has been started.
type Run struct {
	*process.Process
	options Options
}

// Start writes the input, empties the log of an earlier run in the folder, and starts bulkcat.
func Start(t testing.TB, options Options) *Run {
	t.Helper()
	r := &Run{options: options}
	input := "url\n" + strings.Join(options.Inputs, "\n") + "\n"
	for name, text := range map[string]string{"in.csv": input, "log.json": ""} {
		if err := os.WriteFile(r.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(options.Binary, r.args()...)
	if options.Descriptors > 0 {
		script := fmt.Sprintf("ulimit -n %d && exec \"$0\" \"$@\"", options.Descriptors)
		cmd = exec.Command("sh", append([]string{"-c", script, options.Binary}, r.args()...)...)
	}
	cmd.Env = append(os.Environ(), "BULKCAT_API_KEY="+Key, "XDG_STATE_HOME="+r.path("state")) // another server may have had the same address
	ctx, cancel := context.WithTimeout(t.Context(), options.Deadline)
	t.Cleanup(cancel)
	var err error
	if r.Process, err = process.Start(ctx, cmd, r.path("log.json")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Run) path(name string) string { return filepath.Join(r.options.Dir, name) }

func (r *Run) args() []string {
	args := []string{"website", r.path("in.csv"), "-o", r.path("out.csv"), "--base-url", r.options.BaseURL, "--log-format", "json"}
	if r.options.CAFile != "" {
		args = append(args, "--ca-file", r.options.CAFile)
	}
	return append(args, r.options.Flags...)
}

// Result is the result of a run.
type Result struct {
	Started  time.Time
	Took     time.Duration
	Exit     int    // -1 when the run was killed at the deadline
	Warnings []Line // of the log, with the level WARN
	Log      string
	Rows     []Row // none when nothing was published
	Requests int64 // by the run's account; 0 without one
}

// Wait returns once the run has ended.
func (r *Run) Wait(t testing.TB) Result {
	t.Helper()
	result := Result{Started: r.Started, Took: r.Took(), Exit: r.Status(), Log: r.Log()}
	result.readWarnings()
	result.readRows(t, r.path("out.csv"))
	result.readAccount(t, r.path("out.csv.run.json"))
	return result
}

// Inputs returns n different inputs, in order.
func Inputs(prefix string, n int) []string {
	inputs := make([]string, n)
	for i := range inputs {
		inputs[i] = prefix + strconv.Itoa(i) + ".example"
	}
	return inputs
}

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
// addr. The output of the server goes to server.log in the folder.
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
