package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// stepper is the embedded service, which answers a categorization for each step.
type stepper struct {
	*httptest.Server
	steps chan struct{}
}

func newStepper(t *testing.T) *stepper {
	s := &stepper{steps: make(chan struct{})}
	gate := &heldService{hold: 1, holding: make(chan struct{}), release: s.steps}
	s.Server = httptest.NewServer(gate.handle(unlimited()))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(s.steps) })
	return s
}

// window is a real terminal: a window of tmux in which a command runs.
type window struct {
	t      *testing.T
	socket string
}

// openTerminal runs a shell command in a new terminal of some columns, and then prints its exit status, which tmux
// does not report reliably. The lines above the command stand for earlier output: tmux loses a line that it wraps
// in the first row.
func openTerminal(t *testing.T, columns int, dir string, env []string, command string) *window {
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "1" {
			t.Fatal("tmux is missing, and CI=1")
		}
		t.Skip("tmux is missing: the terminal is not tested")
	}
	config := filepath.Join(t.TempDir(), "tmux.conf")
	if err := os.WriteFile(config, []byte("set -g remain-on-exit on\nset -g status off\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	term := &window{t, filepath.Join(t.TempDir(), "s")}
	args := []string{"-f", config, "new-session", "-d", "-x", fmt.Sprint(columns), "-y", "20", "-c", dir}
	for _, setting := range env {
		args = append(args, "-e", setting)
	}
	term.tmux(append(args, "--", "sh", "-c", "trap : INT; seq 10; "+command+"; echo status $?")...)
	t.Cleanup(func() { term.tmux("kill-server") })
	return term
}

func (term *window) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// lines are the lines in the terminal, and those that were scrolled out.
func (term *window) lines() []string {
	return strings.Split(strings.TrimRight(term.tmux("capture-pane", "-p", "-S", "-"), "\n"), "\n")
}

// await waits until a line matches, and gives all lines that do.
func (term *window) await(pattern string) (lines []string) {
	term.t.Helper()
	want := regexp.MustCompile(pattern)
	for ended, start := false, time.Now(); lines == nil && !ended; {
		ended = time.Since(start) > time.Minute
		for _, line := range term.lines() {
			if want.MatchString(line) {
				lines = append(lines, line)
			}
			ended = ended || strings.HasPrefix(line, "status ")
		}
	}
	if lines == nil {
		term.t.Fatalf("no line matches %s:\n%s", pattern, strings.Join(term.lines(), "\n"))
	}
	return lines
}

// TestBarStaysOnOneLine steps through a run while the terminal changes its size, and
// interrupts the run twice.
func TestBarStaysOnOneLine(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	const records = 1_000
	for _, width := range []int{40, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeTitles(t, filepath.Join(dir, "in.txt"), records)
			service := newStepper(t)
			term := openTerminal(t, width, dir, []string{"BULKCAT_BASE_URL=" + service.URL, "BULKCAT_API_KEY=" + testKey},
				bulkcat+" product in.txt -o out.csv --workers 10 --rate 0")
			done := 0
			step := func() {
				done++
				service.steps <- struct{}{}
				bars := term.await(fmt.Sprintf(`\b%d/%d\b`, done, records))
				all := term.await(`%|\d/\d`)
				if len(bars) != 1 || len(all) != 1 {
					t.Errorf("there is more than one bar:\n%s", strings.Join(term.lines(), "\n"))
				}
				if len(bars[0]) >= width {
					t.Errorf("the bar fills %d of %d columns: %q", len(bars[0]), width, bars[0])
				}
				if !strings.Contains(bars[0], "% [") {
					t.Errorf("there is no bar: %q", bars[0])
				}
			}
			for range 4 {
				step()
			}
			for _, width = range []int{50, 40, 120} {
				term.tmux("resize-window", "-x", fmt.Sprint(width))
				step()
				step()
			}
			term.tmux("send-keys", "C-c")
			term.await(`^finishing \d+ requests in flight; press again to quit$`)
			step() // the last answers count, and the bar goes on
			term.tmux("send-keys", "C-c")
			term.await(`^  resume    .*bulkcat product in.txt -o out.csv`)
			if bars := regexp.MustCompile(`\d/\d`).FindAllString(strings.Join(term.lines(), "\n"), -1); bars != nil {
				t.Errorf("the bar stays: %q", term.lines())
			}
			term.await(`^status 130$`)
		})
	}
}
