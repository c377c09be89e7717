package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Standard error carries all that is said: notices, the bar or the log, the summary and
// errors. Standard output carries rows only.

type logFlags struct {
	format string
	quiet  bool
	debug  bool
}

func (f *logFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "log-format", "text", "text or json")
	flags.BoolVar(&f.quiet, "quiet", false, "say nothing but warnings and errors")
	flags.BoolVar(&f.debug, "debug", false, "also tell of every failed attempt")
}

func (f *logFlags) check() error {
	if f.format != "text" && f.format != "json" {
		return fmt.Errorf("--log-format: %q must be text or json", f.format)
	}
	return nil
}

// logger makes the log, which takes what libraries print, too.
func (f *logFlags) logger(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch {
	case f.debug:
		options.Level = slog.LevelDebug
	case f.quiet:
		options.Level = slog.LevelWarn
	}
	if isTerminal(out) {
		out = besideBar{out}
	}
	log := slog.New(slog.NewTextHandler(out, options))
	if f.format == "json" {
		log = slog.New(slog.NewJSONHandler(out, options))
	}
	logLibraries(log, hideNothing)
	return log
}

// besideBar wipes the progress bar's line before a line of the log; the bar draws itself
// anew below.
type besideBar struct{ io.Writer }

func (w besideBar) Write(line []byte) (int, error) {
	const wipe = "\r\x1b[K"
	if _, err := io.WriteString(w.Writer, wipe); err != nil {
		return 0, err
	}
	return w.Writer.Write(line)
}

// isTerminal says whether out is a terminal that understands cursor movement.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
