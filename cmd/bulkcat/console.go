package main

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"unicode"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// console is standard error, for notices, the log, the bar, the summary and errors. All lines are JSON if the
// user wants JSON, no line runs into the bar, and no control characters from services and files get to the
// terminal.
type console struct {
	json bool
	bars bool // a bar can be drawn
	size func() (columns int)

	mu  sync.Mutex
	out io.Writer
	bar string // below the lines; "" for none
	end bool   // no bar is drawn any more
}

// newConsole makes the console of a command line.
func newConsole(out io.Writer, args []string) *console {
	c := &console{out: out, json: wantsJSON(args)}
	if f, ok := out.(*os.File); ok {
		c.bars = !c.json && isTerminal(f)
		c.size = func() int { return columns(f) }
	}
	return c
}

// wantsJSON reads --log-format before the command line is parsed, for the errors of parsing.
func wantsJSON(args []string) bool {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	format := flags.String("log-format", os.Getenv(variable("log-format")), "")
	_ = flags.Parse(args) // the command reports what is wrong
	return *format == "json"
}

// isTerminal says whether f is a terminal that understands cursor movement.
func isTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// columns is the present width of a terminal; 80 if the terminal does not say.
func columns(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// Write writes lines of text.
func (c *console) Write(text []byte) (int, error) {
	if !c.json {
		return logLines{c}.Write(text)
	}
	log := slog.New(slog.NewJSONHandler(logLines{c}, nil))
	for line := range strings.Lines(string(text)) {
		log.Info(strings.TrimRight(line, "\n"))
	}
	return len(text), nil
}

// logLines writes lines that are already in the format of the log.
type logLines struct{ console *console }

func (w logLines) Write(lines []byte) (int, error) {
	c := w.console
	c.mu.Lock()
	defer c.mu.Unlock()
	text := printable(string(lines))
	if c.bar != "" {
		text = wipe + text + c.bar + "\r"
	}
	if _, err := io.WriteString(c.out, text); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// wipe clears the terminal from the beginning of the line. The bar leaves the cursor there, so that wipe clears
// the whole bar, even if a terminal that became narrower has wrapped the bar. The space keeps tmux from
// scrolling up a bar in the first line.
const wipe = "\r \x1b[J\r"

// draw replaces the bar.
func (c *console) draw(bar string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end {
		return
	}
	c.bar = bar
	_, _ = io.WriteString(c.out, "\r"+bar+"\x1b[J\r") // the run does not depend on the bar
}

// begin lets the next job of a job file draw its bar, or write JSON.
func (c *console) begin(json bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.out.(*os.File)
	c.json, c.end = json, false
	c.bars = !json && ok && isTerminal(f)
}

// endBar wipes the bar for good.
func (c *console) endBar() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bar != "" {
		_, _ = io.WriteString(c.out, wipe)
	}
	c.bar, c.end = "", true
}

// fail reports the error that ends the program.
func (c *console) fail(err error) {
	if c.json {
		slog.New(slog.NewJSONHandler(logLines{c}, nil)).Error(err.Error())
		return
	}
	_, _ = io.WriteString(c, "bulkcat: "+err.Error()+"\n")
}

// printable is text with U+FFFD in place of invalid UTF-8 and of control characters, which could steer a
// terminal. Line feeds and tabs stay.
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
