package main

import (
	"cmp"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
)

// logFlags say which messages go to standard error, and in which format.
type logFlags struct {
	format string
	quiet  bool
	debug  bool
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
		if a.Key == "option" { // libraries name options, users know flags
			a = slog.String("flag", cmp.Or(flagOf(a.Value.String()), a.Value.String()))
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
	_ = flags.Parse(args) // the command reports the errors
	return *format == "json"
}
