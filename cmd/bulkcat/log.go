package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/pflag"
)

// Standard error is for messages: notices, the bar or the log, the summary and errors. Standard output is for
// rows.

type logFlags struct {
	format string
	quiet  bool
	debug  bool
}

func (f *logFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "log-format", "text", "of all lines on standard error: text or json")
	flags.BoolVar(&f.quiet, "quiet", false, "print only warnings and errors")
	flags.BoolVar(&f.debug, "debug", false, "also log every failed attempt")
}

func (f *logFlags) check() error {
	if f.format != "text" && f.format != "json" {
		return fmt.Errorf("--log-format: %q must be text or json", f.format)
	}
	return nil
}

// logger makes the log, which also has the messages of libraries.
func (f *logFlags) logger(c *console) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch {
	case f.debug:
		options.Level = slog.LevelDebug
	case f.quiet:
		options.Level = slog.LevelWarn
	}
	options.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
		switch {
		case c.bars && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
			a.Value = slog.StringValue(a.Value.Time().Format(time.TimeOnly)) // most lines fit into 80 columns
		case a.Key == "option": // libraries name options
			a = slog.String("flag", firstOf(flagOf[a.Value.String()], a.Value.String()))
		}
		return a
	}
	log := slog.New(slog.NewTextHandler(logLines{c}, options))
	if c.json {
		log = slog.New(slog.NewJSONHandler(logLines{c}, options))
	}
	logLibraries(log, hideNothing)
	return log
}
