package terminal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// sentences writes the log for a person at a terminal: the time, a mark of the level, the message and its attributes.
type sentences struct {
	console *Console
	level   slog.Level
	rename  func(slog.Attr) slog.Attr
	about   string // the attributes of the handler
}

func (h *sentences) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithGroup does nothing: no attribute of this program is in a group.
func (h *sentences) WithGroup(string) slog.Handler { return h }

func (h *sentences) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	for _, a := range attrs {
		next.about += h.text(a)
	}
	return &next
}

// text formats an attribute, with a separator before it.
func (h *sentences) text(a slog.Attr) string {
	if a = h.rename(a); a.Equal(slog.Attr{}) {
		return ""
	}
	value := a.Value.Resolve()
	text := value.String()
	if value.Kind() == slog.KindTime {
		text = value.Time().Local().Format(time.DateTime)
	}
	if a.Key == "error" || a.Key == "err" {
		return "\x00" + text
	}
	return "\x00" + strings.ReplaceAll(a.Key, "_", " ") + " " + text
}

func (h *sentences) Handle(_ context.Context, r slog.Record) error {
	about := h.about
	r.Attrs(func(a slog.Attr) bool { about += h.text(a); return true })
	about = strings.ReplaceAll(strings.TrimPrefix(about, "\x00"), "\x00", ", ")
	first, size := utf8.DecodeRuneInString(r.Message)
	line := string(unicode.ToUpper(first)) + r.Message[size:]
	if strings.Contains(line, ": ") && about != "" {
		line += " (" + about + ")"
	} else if about != "" {
		line += ": " + about
	}
	mark, plain := " ", " " // in color, and without
	switch {
	case r.Level >= slog.LevelError:
		mark, plain = "\x1b[31m✗\x1b[0m", "x"
	case r.Level >= slog.LevelWarn:
		mark, plain = "\x1b[33m!\x1b[0m", "!"
	case r.Level < slog.LevelInfo:
		mark, plain = "\x1b[2m·\x1b[0m", "-"
	}
	if os.Getenv("NO_COLOR") != "" || !Blocks() {
		mark = plain
	}
	return h.console.line(fmt.Sprintf("%s %s %s\n", r.Time.Format(time.TimeOnly), mark, printable(line)))
}

// line writes a line. The caller has made the text printable, except for the colors of this program.
func (c *Console) line(text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bar != "" {
		text = wipe + text + c.bar + "\r"
	}
	_, err := io.WriteString(c.out, text)
	return err
}
