package terminal

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

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
		json bool
		want bool
	}{
		"terminal":      {pty, "xterm-256color", false, true},
		"dumb terminal": {pty, "dumb", false, false},
		"JSON":          {pty, "xterm-256color", true, false},
		"file":          {file, "xterm-256color", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", tt.term)
			if got := New(tt.out, tt.json).bars; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestBarFits wants the most important words, and no colour, at any width.
func TestBarFits(t *testing.T) {
	until := func(left time.Duration) *time.Time { ends := time.Time{}.Add(left); return &ends }
	small := status{Records: 772, Unanswered: 1, ToRetry: 2, Total: 2000, RecordsPerSecond: 12.3, Ends: until(100 * time.Second), Quota: new(int64(95752))}
	large := status{Records: 1_235_567, Unanswered: 1000, Total: 25_000_000, RecordsPerSecond: 512, Ends: until(13*time.Hour + 17*time.Minute), Quota: new(int64(99_000_000))}
	pipe := status{Records: 771, RecordsPerSecond: 4.5}
	since := time.Date(2026, 7, 31, 2, 13, 59, 0, time.Local)
	outage, pause := small, small
	outage.State, outage.Since, outage.Ends, outage.RecordsPerSecond = account.Outage, since, nil, 0
	pause.State, pause.Since, pause.Ends, pause.RecordsPerSecond = account.QuotaPause, since, nil, 0
	short, early := small, small
	short.Stop, early.Stop = account.QuotaExhausted, account.Deadline
	full := status{Records: 20, Total: 20}
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
	c := New(&out, false)
	c.draw("bar")
	fmt.Fprintln(c, "line")
	c.EndBar()
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

func TestLibraryLog(t *testing.T) {
	for name, tt := range map[string]struct{ message, want string }{
		"quoted":             {`response starting with "key: the-key\n"; err=<nil>`, `response starting with "..."; err=<nil>`},
		"quotes within":      {`starting with "\"the-key\\"; more`, `starting with "..."; more`},
		"a quote that stays": {`starting with "the-k`, `starting with "..."`},
		"bare":               {"invalid header: the-key", "invalid header: [secret]"},
		"nothing":            {"Error enabling HTTP/2 support\n", "Error enabling HTTP/2 support"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			options := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key != "message" {
					return slog.Attr{}
				}
				return a
			}}
			l := libraryLog{slog.New(slog.NewTextHandler(&out, options)), strings.NewReplacer("the-key", "[secret]").Replace}
			if _, err := l.Write([]byte(tt.message)); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("message=%q\n", tt.want); out.String() != want {
				t.Errorf("got %s, want %s", out.String(), want)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	for name, tt := range map[string]struct {
		all, ctype, lang string
		want             bool
	}{
		"nothing said":      {"", "", "", false},
		"language":          {"", "", "en_US.UTF-8", true},
		"another spelling":  {"", "C.utf8", "", true},
		"another encoding":  {"", "", "de_DE.ISO-8859-1", false},
		"all before others": {"C", "en_US.UTF-8", "en_US.UTF-8", false},
		"type before lang":  {"", "C", "en_US.UTF-8", false},
	} {
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LC_CTYPE", tt.ctype)
		t.Setenv("LANG", tt.lang)
		if got := Blocks(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
