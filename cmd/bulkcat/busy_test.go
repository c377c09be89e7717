package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTwoAtOnce starts a second run while the first waits for the service: on the same
// output or the same store it is refused, and the first is not disturbed.
func TestTwoAtOnce(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	tests := []struct {
		name          string
		first, second []string
	}{
		{"output and store", []string{"-o", "out.csv"}, []string{"-o", "out.csv"}},
		{"store", []string{"-o", "out.csv", "--store", "store"}, []string{"-o", "other.csv", "--store", "store"}},
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
			command := func(args []string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), bulkcat, append([]string{"product", "in.txt", "--quiet"}, args...)...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service.URL, "BULKCAT_API_KEY="+testKey)
				return cmd
			}
			first := command(tt.first)
			var stderr strings.Builder
			first.Stderr = &stderr
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			<-service.holding
			told, err := command(tt.second).CombinedOutput()
			if got := statusOf(err); got != exitFailed {
				t.Errorf("the second: exit status %d, want %d", got, exitFailed)
			}
			if pid := fmt.Sprint(first.Process.Pid); !strings.Contains(string(told), pid) {
				t.Errorf("the second does not name process %s:\n%s", pid, told)
			}
			close(service.release)
			if got := statusOf(first.Wait()); got != exitComplete {
				t.Errorf("the first: exit status %d\n%s", got, stderr.String())
			}
		})
	}
}

// TestPipes runs over a pipe: a second run on the same output is refused and changes nothing, and a signal ends
// the first run although the pipe has not ended.
func TestPipes(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	titles := strings.Repeat("Dog Collar of leather\nCordless Drill\n", 3000) // reading begins after 64 KiB
	for name, args := range map[string][]string{
		"spooled":     {"-o", "out.csv"},
		"not spooled": {"-o", "out.csv", "--no-spool"},
		"to a pipe":   {"-o", "-", "--store", "store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			service := holdAll(t)
			command := func(input io.Reader) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), bulkcat, append([]string{"product", "-", "--quiet"}, args...)...)
				cmd.Dir, cmd.Stdin = dir, input
				cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service.URL, "BULKCAT_API_KEY="+testKey)
				return cmd
			}
			pipe, input, err := os.Pipe() // never ends
			if err != nil {
				t.Fatal(err)
			}
			defer input.Close()
			first := command(pipe)
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			pipe.Close()
			if _, err := input.WriteString(titles); err != nil {
				t.Fatal(err)
			}
			<-service.holding
			told, err := command(strings.NewReader("Teapot\n")).CombinedOutput()
			if got := statusOf(err); got != exitFailed {
				t.Errorf("the second: exit status %d, want %d\n%s", got, exitFailed, told)
			}
			spools, _ := filepath.Glob(filepath.Join(dir, "out.csv.stdin*"))
			for _, spool := range spools {
				if got, err := os.ReadFile(spool); string(got) != titles {
					t.Errorf("%s: %d bytes, want %d; %v", filepath.Base(spool), len(got), len(titles), err)
				}
			}
			if want := name == "spooled"; len(spools) > 1 || (len(spools) == 1) != want {
				t.Errorf("there are %v", spools)
			}
			if err := first.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			close(service.release)
			if got := statusOf(first.Wait()); got != exitTerminated {
				t.Errorf("the first: exit status %d, want %d", got, exitTerminated)
			}
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
