package main

import (
	"io"
	"log"
	"log/slog"
	"regexp"
	"strings"
)

// Libraries print with the standard logger what they cannot return: net/http prints bytes that a
// server sends unasked, which may repeat the API key. Nothing of it goes around our own log.

// silenceLibraries holds until there is a log.
func silenceLibraries() {
	log.SetFlags(0) // our log has a time
	log.SetOutput(io.Discard)
}

// logLibraries sends what libraries print to the log, without the secrets that hide knows.
func logLibraries(to *slog.Logger, hide func(string) string) {
	log.SetOutput(libraryLog{to, hide})
}

type libraryLog struct {
	log  *slog.Logger
	hide func(string) string
}

// quoted text in a message comes from the other side, and may end in the middle of a secret.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

func (l libraryLog) Write(message []byte) (int, error) {
	text := quoted.ReplaceAllLiteralString(l.hide(string(message)), `"..."`)
	l.log.Debug("a library reports", "message", strings.TrimSpace(text))
	return len(message), nil
}

// hideNothing is for a command that knows no secret.
func hideNothing(text string) string { return text }
