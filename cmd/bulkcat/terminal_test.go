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

	"github.com/bulkcat/bulkcat/pipeline"
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

// terminal is a real terminal: a window of tmux in which a command runs.
type terminal struct {
	t      *testing.T
	socket string
}

// openTerminal runs a shell command in a new terminal of some columns, and then prints its exit status, which tmux
// does not report reliably. The lines above the command stand for earlier output: tmux loses a line that it wraps
// in the first row.
func openTerminal(t *testing.T, columns int, dir string, env []string, command string) *terminal {
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
	term := &terminal{t, filepath.Join(t.TempDir(), "s")}
	args := []string{"-f", config, "new-session", "-d", "-x", fmt.Sprint(columns), "-y", "20", "-c", dir}
	for _, setting := range env {
		args = append(args, "-e", setting)
	}
	term.tmux(append(args, "--", "sh", "-c", "trap : INT; seq 10; "+command+"; echo status $?")...)
	t.Cleanup(func() { term.tmux("kill-server") })
	return term
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// lines are the lines in the terminal, and those that were scrolled out.
func (term *terminal) lines() []string {
	return strings.Split(strings.TrimRight(term.tmux("capture-pane", "-p", "-S", "-"), "\n"), "\n")
}

// await waits until a line matches, and gives all lines that do.
func (term *terminal) await(pattern string) (lines []string) {
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

// TestBarOnlyOnTerminals wants a bar only on terminals with cursor movement.
func TestBarOnlyOnTerminals(t *testing.T) {
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	defer pty.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, tt := range map[string]struct {
		out  *os.File
		term string
		args []string
		want bool
	}{
		"terminal":      {pty, "xterm-256color", nil, true},
		"dumb terminal": {pty, "dumb", nil, false},
		"JSON":          {pty, "xterm-256color", []string{"website", "--log-format", "json"}, false},
		"file":          {file, "xterm-256color", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", tt.term)
			if got := newConsole(tt.out, tt.args).bars; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestBarFits wants the most important words, and no colour, at any width.
func TestBarFits(t *testing.T) {
	small := status{Counts: pipeline.Snapshot{OK: 771, Parked: 2, Failed: 1}, Total: 2000, Rate: 12.34, Left: 100 * time.Second, Quota: 95752, Metered: true}
	large := status{Counts: pipeline.Snapshot{OK: 1_234_567, Invalid: 1000}, Total: 25_000_000, Rate: 512, Left: 13*time.Hour + 17*time.Minute, Quota: 99_000_000, Metered: true}
	pipe := status{Counts: pipeline.Snapshot{OK: 771}, Rate: 4.5}
	since := time.Date(2026, 7, 31, 2, 13, 59, 0, time.Local)
	outage, pause := small, small
	outage.State, outage.Since, outage.Left, outage.Rate = pipeline.Outage, since, 0, 0
	pause.State, pause.Since, pause.Left, pause.Rate = pipeline.QuotaPause, since, 0, 0
	short, early := small, small
	short.Stop, early.Stop = pipeline.QuotaExhausted, pipeline.Deadline
	full := status{Counts: pipeline.Snapshot{OK: 20}, Total: 20}
	for _, tt := range []struct {
		name    string
		s       status
		columns int
		want    string
	}{
		{"small", small, 40, "38% [===>.......] 772/2000, 1m40s left"},
		{"small", small, 80, "38% [======>............] 772/2000, 1m40s left, 12/s, 1 unanswered, 2 to retry"},
		{"small", small, 200, "38% [========>...............] 772/2000, 1m40s left, 12/s, 1 unanswered, 2 to retry, quota 95752"},
		{"outage", outage, 80, "38% [=====>..........] 772/2000, waiting since 02:13, 1 unanswered, 2 to retry"},
		{"quota pause", pause, 80, "38% [=====>............] 772/2000, waiting for quota since 02:13, 1 unanswered"},
		{"short quota", short, 60, "38% [=====>..........] 772/2000, quota ends in 1m40s, 12/s"},
		{"deadline", early, 60, "38% [======>..............] 772/2000, stops in 1m40s, 12/s"},
		{"large", large, 40, "4% [...................] 1.24M/25.00M"},
		{"large", large, 80, "4% [........] 1.24M/25.00M, 13h17m left, 512/s, 1000 unanswered, quota 99.00M"},
		{"large", large, 200, "4% [........................] 1.24M/25.00M, 13h17m left, 512/s, 1000 unanswered, quota 99.00M"},
		{"pipe", pipe, 80, "771, 4.5/s"},
		{"at its end", full, 80, "100% [========================] 20/20"},
		{"narrow", large, 10, "1.24M/25."},
		{"too narrow", large, 1, ""},
	} {
		if got := barLine(tt.s, tt.columns); got != tt.want {
			t.Errorf("%s at %d:\ngot  %q\nwant %q", tt.name, tt.columns, got, tt.want)
		}
	}
	for columns := range 250 {
		for _, s := range []status{small, large, pipe, full} {
			if line := barLine(s, columns); len(line) > max(0, columns-1) {
				t.Errorf("%d columns are too few for %q", columns, line)
			}
		}
	}
}

// TestLinesAndBar wants each line of the log above the bar.
func TestLinesAndBar(t *testing.T) {
	var out strings.Builder
	c := newConsole(&out, nil)
	c.draw("bar")
	fmt.Fprintln(c, "line")
	c.endBar()
	c.draw("late")
	fmt.Fprintln(c, "end")
	if want := "\rbar\x1b[J\r" + "\r \x1b[J\rline\nbar\r" + "\r \x1b[J\r" + "end\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":      "plain\ttext\n",
		"Größe 漢字 🎈":         "Größe 漢字 🎈",
		"\x1b[31mred\x1b[0m": "\ufffd[31mred\ufffd[0m",
		"bell\a, back\b\r":   "bell\ufffd, back\ufffd\ufffd",
		"C1 \u009b31m":       "C1 \ufffd31m",
		"raw \x9b31m":        "raw \ufffd31m",
		"\x7f\x00":           "\ufffd\ufffd",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
