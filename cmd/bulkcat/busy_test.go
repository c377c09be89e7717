package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// TestTwoAtOnce starts a second run while the first waits for the service: on the same
// output it is refused, and the first is not disturbed.
func TestTwoAtOnce(t *testing.T) {
	tests := []struct {
		name          string
		first, second []string
	}{
		{"output and store", []string{"-o", "out.csv"}, []string{"-o", "out.csv"}},
		{"output", []string{"-o", "out.csv", "--store", "store"}, []string{"-o", "out.csv", "--store", "other"}},
		{"folder", []string{"-o", "out/", "--store", "store"}, []string{"-o", "out/", "--store", "other"}},
		{"overwritten", []string{"-o", "out.csv", "--store", "store"}, []string{"-o", "out.csv", "--store", "other", "--overwrite"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeTitles(t, filepath.Join(dir, "in.txt"), 20)
			service := holdAll(t)
			run := func(args []string) *process.Process {
				return start(t, bulkcatCommand(t, dir, service.URL, append([]string{"product", "in.txt", "--quiet"}, args...)...))
			}
			first := run(tt.first)
			<-service.holding
			second := run(tt.second)
			wantStatus(t, second, exitFailed)
			if pid := fmt.Sprint(first.PID()); !strings.Contains(second.Log(), pid) {
				t.Errorf("the second does not name process %s:\n%s", pid, second.Log())
			}
			close(service.release)
			wantStatus(t, first, exitComplete)
		})
	}
}

// TestPipes runs over a pipe: a second run on the same output is refused and changes nothing, and a signal ends
// the first run although the pipe has not ended.
func TestPipes(t *testing.T) {
	titles := strings.Repeat("Dog Collar of leather\nCordless Drill\n", 3000) // reading begins after 64 KiB
	for name, args := range map[string][]string{
		"spooled":   {"-o", "out.csv"},
		"to a pipe": {"-o", "-", "--store", "store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			service := holdAll(t)
			run := func(input io.Reader) *process.Process {
				cmd := bulkcatCommand(t, dir, service.URL, append([]string{"product", "-", "--quiet"}, args...)...)
				cmd.Stdin = input
				return start(t, cmd)
			}
			pipe, input, err := os.Pipe() // never ends
			if err != nil {
				t.Fatal(err)
			}
			defer input.Close()
			first := run(pipe)
			pipe.Close()
			if _, err := input.WriteString(titles); err != nil {
				t.Fatal(err)
			}
			<-service.holding
			if name == "spooled" {
				wantStatus(t, run(strings.NewReader("Teapot\n")), exitFailed)
			}
			spools, _ := filepath.Glob(filepath.Join(dir, ".out.csv.run", "*stdin*"))
			for _, spool := range spools {
				if got, err := os.ReadFile(spool); string(got) != titles {
					t.Errorf("%s: %d bytes, want %d; %v", filepath.Base(spool), len(got), len(titles), err)
				}
			}
			if want := name == "spooled"; len(spools) > 1 || (len(spools) == 1) != want {
				t.Errorf("there are %v", spools)
			}
			if err := first.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			close(service.release)
			wantStatus(t, first, exitTerminated)
		})
	}
}

// holdAll is a service that keeps all requests waiting until they are released.
func holdAll(t *testing.T) *heldService {
	t.Helper()
	s := &heldService{hold: 1, holding: make(chan struct{}), release: make(chan struct{})}
	s.Server = httptest.NewServer(s.handle(unlimited()))
	t.Cleanup(s.Close)
	return s
}

func writeTitles(t *testing.T, path string, n int) {
	t.Helper()
	var titles strings.Builder
	for i := range n {
		fmt.Fprintf(&titles, "Garden hose with a brass nozzle, reinforced, %d m\n", i)
	}
	if err := os.WriteFile(path, []byte(titles.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
