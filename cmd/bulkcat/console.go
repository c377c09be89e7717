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

// console is standard error: notices, the log, the bar, the summary and errors go through it.
// So each line is JSON where the user wants JSON, no line runs into the bar, and no text
// from a service or a file steers the terminal.
type console struct {
	json bool
	bars bool // a bar can be drawn
	size func() (columns int)

	mu  sync.Mutex
	out io.Writer
	bar string // stands below the lines; "" for none
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

// wantsJSON reads --log-format before the command line is understood, for an error may say
// that it is not.
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

// columns is the width of a terminal as it is now. Serial lines do not tell theirs.
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

// logLines writes lines that are in the log's format already.
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

// wipe clears what the terminal shows from the beginning of the line on. The bar leaves the
// cursor there, so that the bar goes as a whole, though a terminal that became narrower has
// wrapped it. The space keeps tmux from scrolling a bar in the first line up.
const wipe = "\r \x1b[J\r"

// draw shows another bar.
func (c *console) draw(bar string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end {
		return
	}
	c.bar = bar
	_, _ = io.WriteString(c.out, "\r"+bar+"\x1b[J\r") // a failed drawing is no reason to stop a run
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

// printable is text with a mark in place of each control character and each byte that is not
// UTF-8, of which some would steer a terminal; line ends and tabs stay.
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
