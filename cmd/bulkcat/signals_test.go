package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// TestSignals sends signals to a run whose service does not answer, each once the one before was reported.
func TestSignals(t *testing.T) {
	hearHangups()
	for name, tt := range map[string]struct {
		signals []syscall.Signal
		status  int
		clean   bool // no lock and no temporary file is left
		want    string
	}{
		"Ctrl-C twice":   {signals: repeat(syscall.SIGINT, 2), status: exitInterrupted, clean: true, want: "  resume    bulkcat product in.txt -o out.csv --workers 1\n"},
		"ended twice":    {signals: repeat(syscall.SIGTERM, 2), status: exitTerminated, clean: true, want: "Stopped (interrupted), resumable,"},
		"ended at last":  {signals: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, status: exitInterrupted, clean: true, want: "Stopped (interrupted), resumable,"},
		"Ctrl-C thrice":  {signals: repeat(syscall.SIGINT, 3), status: exitInterrupted, want: "quit with 1 request in flight\n  resume    bulkcat product in.txt -o out.csv --workers 1\n"},
		"killed at last": {signals: []syscall.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM}, status: exitTerminated, want: "quit with 1 request in flight\n"},
		"hung up twice":  {signals: repeat(syscall.SIGHUP, 2), status: exitTerminated, clean: true, want: "Stopped (interrupted), resumable,"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeTitles(t, filepath.Join(dir, "in.txt"), 20)
			service := holdAll(t)
			p := start(t, bulkcatCommand(t, dir, service.URL, "product", "in.txt", "-o", "out.csv", "--workers", "1"))
			<-service.holding
			hangUp := tt.signals[0] == syscall.SIGHUP
			for i, s := range tt.signals {
				sendAfter(t, p, s, fmt.Sprintf("(?s)(press again to quit.*){%d}", i))
			}
			if hangUp {
				close(service.release)
			}
			if got := p.Status(); got != tt.status {
				t.Errorf("exit status %d, want %d", got, tt.status)
			}
			if !hangUp {
				close(service.release)
			}
			if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); tt.clean && len(hidden) > 0 {
				t.Errorf("%q are left", hidden)
			}
			if told := p.Log(); !strings.Contains(told, tt.want) {
				t.Errorf("got %q, want %q in it", told, tt.want)
			}
		})
	}
}

// sendAfter sends a signal when the log matches a pattern.
func sendAfter(t *testing.T, p *process.Process, s syscall.Signal, pattern string) {
	t.Helper()
	if _, err := p.AwaitLog(regexp.MustCompile(pattern)); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(s); err != nil {
		t.Error(err)
	}
}

// TestSignalsAtOnce sends two signals to a run that waits for a service in an outage, as GNU timeout does: without a
// pause. With three or more the process may end before it says anything.
func TestSignalsAtOnce(t *testing.T) {
	for _, signals := range [][]syscall.Signal{
		repeat(syscall.SIGTERM, 2), repeat(syscall.SIGINT, 2), {syscall.SIGTERM, syscall.SIGINT}, {syscall.SIGHUP, syscall.SIGTERM},
	} {
		for _, pause := range []time.Duration{0, 100 * time.Microsecond, time.Millisecond} {
			t.Run(fmt.Sprint(signals, pause), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				writeTitles(t, filepath.Join(dir, "in.txt"), 50)
				var requests atomic.Int64
				outage := make(chan struct{})
				began := sync.OnceFunc(func() { close(outage) })
				service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if requests.Add(1) < 10 {
						unlimited().ServeHTTP(w, r)
						return
					}
					w.WriteHeader(http.StatusServiceUnavailable)
					began()
				}))
				defer service.Close()
				p := start(t, bulkcatCommand(t, dir, service.URL, "product", "in.txt", "-o", "out.csv", "--workers", "2"))
				<-outage
				for _, s := range signals {
					if err := p.Signal(s); err != nil {
						t.Error(err)
					}
					time.Sleep(pause) // not to wait for anything: the signals come as fast as this
				}
				if got := p.Status(); got != exitTerminated && got != exitInterrupted {
					t.Errorf("exit status %d", got)
				}
				for _, want := range []string{"Stopped (interrupted), resumable,", "  resume    bulkcat product in.txt -o out.csv --workers 2\n"} {
					if !strings.Contains(p.Log(), want) {
						t.Errorf("got %q, want %q in it", p.Log(), want)
					}
				}
				if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); len(hidden) > 0 {
					t.Errorf("%q are left", hidden)
				}
			})
		}
	}
}

// TestEndOfStdinStops ends the standard input of a run that waits for its service. The run prints its account.
func TestEndOfStdinStops(t *testing.T) {
	dir := t.TempDir()
	writeTitles(t, filepath.Join(dir, "in.txt"), 20)
	service := holdAll(t)
	cmd := bulkcatCommand(t, dir, service.URL, "product", "in.txt", "-o", "out.csv", "--workers", "1", "--until-stdin-ends", "--grace", "0")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	cmd.Stdout = &printed
	p := start(t, cmd)
	<-service.holding
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	wantStatus(t, p, exitInterrupted)
	close(service.release)
	if want := "  resume    bulkcat product in.txt -o out.csv --workers 1 --grace 0\n"; !strings.Contains(p.Log(), want) {
		t.Errorf("got %q, want %q in it", p.Log(), want)
	}
	var a account.Account
	if err := json.Unmarshal(printed.Bytes(), &a); err != nil || a.Ending != account.Ending(account.Interrupted) {
		t.Errorf("the account says that the run has ended with %q; %v", a.Ending, err)
	}
}

func repeat(s syscall.Signal, n int) (signals []syscall.Signal) {
	for range n {
		signals = append(signals, s)
	}
	return signals
}

// TestIsIn wants every name of standard input, and no other file: a run until standard input ends reads it to its end.
func TestIsIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.txt")
	if err := os.WriteFile(file, []byte("steel drill\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	regular, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer regular.Close()
	pipe, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer end.Close()
	name := func(f *os.File) string { return fmt.Sprintf("/dev/fd/%d", f.Fd()) }
	for _, c := range []struct {
		what string
		in   io.Reader
		path string
		want bool
	}{
		{"-", pipe, "-", true},
		{"- of another stream", strings.NewReader(""), "-", true},
		{"another name of the pipe", pipe, name(pipe), true},
		{"another file", pipe, file, false},
		{"a missing file", pipe, file + ".missing", false},
		{"no file", pipe, "", false},
		{"a regular file, which is opened again", regular, file, false},
	} {
		if got := (streams{in: c.in}).isIn(c.path); got != c.want && (c.path != name(pipe) || runtime.GOOS == "linux") {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// TestCommandEndsWithTheRun sends two signals, and one more, while the command of --on-end runs.
func TestCommandEndsWithTheRun(t *testing.T) {
	for name, n := range map[string]int{"soon": 2, "at once": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeTitles(t, filepath.Join(dir, "in.txt"), 2)
			p := start(t, bulkcatCommand(t, dir, "", "product", "in.txt", "-o", "out.csv", "--on-end", "echo begins; exec sleep 600"))
			for i := range n {
				sendAfter(t, p, syscall.SIGTERM, fmt.Sprintf("(?s)begins(.*press again){%d}", i))
			}
			if took := p.Took(); took > time.Minute {
				t.Errorf("ended after %v", took)
			}
		})
	}
}

// TestSlowRecordHidesNoOther interrupts a run whose first record waits for a retry, after all other records are
// answered.
func TestSlowRecordHidesNoOther(t *testing.T) {
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
	p := start(t, bulkcatCommand(t, dir, service.URL, "product", "in.txt", "-o", "out.csv", "--rate", "0", "--workers", "4"))
	for range records - 1 {
		<-answered
	}
	if err := p.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	wantStatus(t, p, exitInterrupted)
	// The signal may come before the end of the input is read.
	if want := regexp.MustCompile(`(?m)^  records   29( of 30)?: 29 ok$`); !want.MatchString(p.Log()) {
		t.Errorf("got %q, want %q in it", p.Log(), want)
	}
}
