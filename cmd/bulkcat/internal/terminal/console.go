// Package terminal writes everything that is not data to standard error: notices, the log, the progress, the summary and errors.
// Lines are text or JSON, no line runs into the progress bar, and no control characters from services and files get to a
// terminal.
package terminal

import (
	"cmp"
	"context"
	"io"
	"log"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"
)

// Console is standard error.
type Console struct {
	json bool
	bars bool // a bar can be drawn

	mu  sync.Mutex
	out io.Writer
	bar string // below the lines; "" for none
	end bool   // no bar is drawn until the next Begin
}

// New returns the console of a program that begins. With json, all lines are JSON.
func New(out io.Writer, json bool) *Console {
	c := &Console{out: out}
	c.Begin(json)
	return c
}

// Begin prepares the console for a run: it allows the bar, or with json makes all lines JSON.
func (c *Console) Begin(json bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.json, c.end = json, false
	c.bars = !json && Width(c.out) > 0
}

// JSON reports whether all lines are JSON.
func (c *Console) JSON() bool { return c.json }

// Width returns the present width of a terminal in columns; 80 if the terminal does not say, and 0 for other streams and for
// terminals without cursor movement (TERM=dumb).
func Width(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// IsTerminal reports whether standard error is a terminal that has not been closed.
func (c *Console) IsTerminal() bool {
	f, ok := c.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Blocks reports whether terminals show block characters: the text of the locale is UTF-8. The first variable that is set in the
// order of POSIX names the locale.
func Blocks() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return strings.HasSuffix(locale, "utf-8") || strings.HasSuffix(locale, "utf8")
}

// Write writes lines of text.
func (c *Console) Write(text []byte) (int, error) {
	if !c.json {
		return logLines{c}.Write(text)
	}
	log := slog.New(slog.NewJSONHandler(logLines{c}, nil))
	for line := range strings.Lines(string(text)) {
		log.Info(strings.TrimRight(line, "\n"))
	}
	return len(text), nil
}

// Fail reports the error that ends a command. Only JSON has the attributes.
func (c *Console) Fail(err error, attributes ...slog.Attr) {
	if c.json {
		slog.New(slog.NewJSONHandler(logLines{c}, nil)).LogAttrs(context.Background(), slog.LevelError, err.Error(), attributes...)
		return
	}
	_, _ = io.WriteString(c, "bulkcat: "+err.Error()+"\n")
}

// Logger returns a logger, which also gets the messages of libraries. rename may replace attributes.
//
// On a terminal the log is sentences, unless text is set.
func (c *Console) Logger(level slog.Level, text bool, rename func(slog.Attr) slog.Attr) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return rename(a) }}
	var handler slog.Handler = slog.NewTextHandler(logLines{c}, options)
	switch {
	case c.json:
		handler = slog.NewJSONHandler(logLines{c}, options)
	case c.bars && !text:
		handler = &sentences{console: c, level: level, rename: rename}
	}
	log := slog.New(handler)
	LogLibraries(log, func(text string) string { return text })
	return log
}

// logLines writes lines that are already in the format of the log.
type logLines struct{ console *Console }

func (w logLines) Write(lines []byte) (int, error) {
	if err := w.console.line(printable(string(lines))); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// wipe clears the terminal from the beginning of the line. The bar leaves the cursor there, so that wipe clears
// the whole bar, even if a terminal that became narrower has wrapped the bar. The space keeps tmux from
// scrolling up a bar in the first line.
const wipe = "\r \x1b[J\r"

// draw replaces the bar.
func (c *Console) draw(bar string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end {
		return
	}
	c.bar = bar
	_, _ = io.WriteString(c.out, "\r"+bar+"\x1b[J\r") // the run does not depend on the bar
}

// NoBar turns the bar off.
func (c *Console) NoBar() { c.bars = false }

// EndBar wipes the bar until the next Begin.
func (c *Console) EndBar() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bar != "" {
		_, _ = io.WriteString(c.out, wipe)
	}
	c.bar, c.end = "", true
}

// Printable returns a writer that replaces invalid UTF-8 and control characters: see printable.
func Printable(out io.Writer) io.Writer { return printableWriter{out} }

// printable replaces invalid UTF-8 and control characters by U+FFFD, because control characters could steer a terminal. Line feeds
// and tabs stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// printableWriter makes the text of each Write printable.
type printableWriter struct{ io.Writer }

func (w printableWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, printable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Libraries print messages with the standard logger. net/http prints bytes that a server sends without a request, which may
// repeat the API key. So all these messages go through the log of this program.

// SilenceLibraries discards the messages until there is a log.
func SilenceLibraries() {
	log.SetFlags(0) // the log of this program adds the time
	log.SetOutput(io.Discard)
}

// LogLibraries sends the messages of libraries to the log. hide removes secrets.
func LogLibraries(to *slog.Logger, hide func(string) string) {
	log.SetOutput(libraryLog{to, hide})
}

type libraryLog struct {
	log  *slog.Logger
	hide func(string) string
}

// quoted matches quoted text from a server, which may be cut in the middle of a secret.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

func (l libraryLog) Write(message []byte) (int, error) {
	text := quoted.ReplaceAllLiteralString(l.hide(string(message)), `"..."`)
	l.log.Debug("a library reports", "message", strings.TrimSpace(text))
	return len(message), nil
}
