package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/writer/regular"
)

// mostInSettings is the maximum size of a file of keys, of headers, of certificates or of a profile, in bytes.
const mostInSettings = 1 << 20

// piped has the content of pipes by path: a pipe can be read only once, and several jobs may name the same pipe.
var piped = struct {
	sync.Mutex
	texts map[string][]byte
}{texts: make(map[string][]byte)}

// parseSettings parses the text of a file that a flag names, or of a pipe, such as <(pass show key). The error names the flag and
// the file.
func parseSettings[T any](ctx context.Context, flag, path string, parse func(text []byte) (T, error)) (settings T, err error) {
	text, err := readFileOrPipe(ctx, path)
	if err == nil {
		text, err = regular.Text(text)
	}
	if err == nil {
		if settings, err = parse(text); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return settings, err
}

func readFileOrPipe(ctx context.Context, path string) ([]byte, error) {
	if !regular.IsPipe(path) {
		return regular.Read(path, mostInSettings)
	}
	piped.Lock()
	defer piped.Unlock()
	if text, ok := piped.texts[path]; ok {
		return text, nil
	}
	text, err := regular.ReadPipe(ctx, path, mostInSettings)
	if err == nil {
		piped.texts[path] = text
	}
	return text, err
}

// readLine reads the only line of a file that a flag names. what is the content of the line, for the error.
func readLine(ctx context.Context, flag, path, what string) (string, error) {
	line, err := parseSettings(ctx, flag, path, func(text []byte) (string, error) {
		line := strings.TrimSpace(string(text))
		if strings.ContainsRune(line, 0) { // UTF-16 without a byte order mark
			return "", errors.New("no text: save it as UTF-8")
		}
		if line == "" || strings.ContainsAny(line, "\r\n") {
			return "", fmt.Errorf("must hold one line, %s", what)
		}
		return line, nil
	})
	if err != nil {
		return "", &usageError{err}
	}
	return line, nil
}
