package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded"
)

// TestSecondSignal sends two signals to a run, the second once the first was reported.
func TestSecondSignal(t *testing.T) {
	hearHangups()
	bulkcat := selfAsBulkcat(t)
	for name, tt := range map[string]struct {
		first, second syscall.Signal
		status        int
		want          string
	}{
		"Ctrl-C twice":   {syscall.SIGINT, syscall.SIGINT, exitInterrupted, "quit with 1 request in flight\n  resume    bulkcat product in.txt -o out.csv --workers 1\n"},
		"killed at last": {syscall.SIGINT, syscall.SIGTERM, exitTerminated, "quit with 1 request in flight\n"},
		"hung up twice":  {syscall.SIGHUP, syscall.SIGHUP, exitTerminated, "Stopped (interrupted), resumable,"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeTitles(t, filepath.Join(dir, "in.txt"), 20)
			service := holdAll(t)
			cmd := exec.CommandContext(t.Context(), bulkcat, "product", "in.txt", "-o", "out.csv", "--workers", "1")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service.URL, "BULKCAT_API_KEY="+testKey)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-service.holding
			send := func(s syscall.Signal) {
				if err := cmd.Process.Signal(s); err != nil {
					t.Error(err)
				}
			}
			send(tt.first)
			var told strings.Builder
			for lines := bufio.NewScanner(stderr); lines.Scan(); {
				told.WriteString(lines.Text() + "\n")
				if strings.HasSuffix(lines.Text(), "press again to quit") {
					send(tt.second)
					if tt.second == syscall.SIGHUP {
						close(service.release)
					}
				}
			}
			if got := statusOf(cmd.Wait()); got != tt.status {
				t.Errorf("exit status %d, want %d", got, tt.status)
			}
			if tt.second != syscall.SIGHUP {
				close(service.release)
			}
			if !strings.Contains(told.String(), tt.want) {
				t.Errorf("got %q, want %q in it", told.String(), tt.want)
			}
		})
	}
}

// TestSlowRecordHidesNoOther interrupts a run whose first record waits for a retry, after all other records are
// answered.
func TestSlowRecordHidesNoOther(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	const records = 30
	dir := t.TempDir()
	writeTitles(t, filepath.Join(dir, "in.txt"), records)
	answered := make(chan struct{}, records)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Query().Get("query"), " 0 m") {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		unlimited().ServeHTTP(w, r)
		if r.URL.Path != embedded.UsagePath {
			answered <- struct{}{}
		}
	}))
	defer service.Close()
	cmd := exec.CommandContext(t.Context(), bulkcat, "product", "in.txt", "-o", "out.csv", "--rate", "0", "--workers", "4")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service.URL, "BULKCAT_API_KEY="+testKey)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range records - 1 {
		<-answered
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if got := statusOf(cmd.Wait()); got != exitInterrupted {
		t.Errorf("exit status %d, want %d", got, exitInterrupted)
	}
	if want := "  records   29: 29 ok\n"; !strings.Contains(stderr.String(), want) {
		t.Errorf("got %q, want %q in it", stderr.String(), want)
	}
}
