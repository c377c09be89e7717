package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
)

// logFlags say which messages standard error gets, and how.
type logFlags struct {
	format string
	quiet  bool
	debug  bool
}

func (f *logFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "log-format", "", "of all lines on standard error: text or json (default: sentences on a terminal, or else text)")
	flags.BoolVar(&f.quiet, "quiet", false, "print only warnings and errors")
	flags.BoolVar(&f.debug, "debug", false, "also log every failed attempt")
}

func (f *logFlags) check() error {
	if f.format != "" && f.format != "text" && f.format != "json" {
		return fmt.Errorf("--log-format: %q must be text or json", f.format)
	}
	return nil
}

// logger makes the log.
func (f *logFlags) logger(c *terminal.Console) *slog.Logger {
	level := slog.LevelInfo
	switch {
	case f.debug:
		level = slog.LevelDebug
	case f.quiet:
		level = slog.LevelWarn
	}
	return c.Logger(level, f.format == "text", func(a slog.Attr) slog.Attr {
		if a.Key == "option" { // libraries name options
			a = slog.String("flag", firstOf(flagOf[a.Value.String()], a.Value.String()))
		}
		return a
	})
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
