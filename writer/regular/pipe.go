package regular

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// pipeWait is the longest wait for a pipe: the program that writes a secret may ask for a passphrase first.
const pipeWait = 2 * time.Minute

// IsPipe reports whether path is a named pipe or a link to a named pipe, such as <(...) in a shell.
func IsPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// ReadPipe reads a pipe to its end. It waits for the other end until ctx ends, and at most for two minutes. If the pipe has
// more than most bytes, the error is a *TooLargeError.
func ReadPipe(ctx context.Context, path string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pipeWait, errors.New("the other end of the pipe has not been closed in time"))
	defer cancel()
	var text []byte
	done := make(chan error, 1)
	go func() { // opening and reading cannot be interrupted
		var err error
		text, err = readPipe(path, most)
		done <- err
	}()
	select {
	case err := <-done:
		return text, err
	case <-ctx.Done():
		return nil, fmt.Errorf("reading the pipe %s: %w", path, context.Cause(ctx))
	}
}

func readPipe(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return ReadAll(f, path, most)
}

// Text returns the content of a text file as UTF-8 without a byte order mark. It decodes UTF-16 with a byte order mark, which
// shells and editors of Windows write. Other content is unchanged.
func Text(content []byte) ([]byte, error) {
	text, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), content)
	return text, err
}
