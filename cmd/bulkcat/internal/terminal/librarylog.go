package terminal

import (
	"io"
	"log"
	"log/slog"
	"regexp"
	"strings"
)

// Libraries print messages with the standard logger: net/http prints bytes that a server sends without a
// request, which may repeat the API key. All these messages go through our own log.

// SilenceLibraries discards the messages until there is a log.
func SilenceLibraries() {
	log.SetFlags(0) // our log has a time
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

// quoted matches text from the server, which may end in the middle of a secret.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

func (l libraryLog) Write(message []byte) (int, error) {
	text := quoted.ReplaceAllLiteralString(l.hide(string(message)), `"..."`)
	l.log.Debug("a library reports", "message", strings.TrimSpace(text))
	return len(message), nil
}
