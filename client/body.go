package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/bulkcat/bulkcat/client/internal/room"
)

const (
	// maxBody is far above any answer (a list of all 703 topics is 60 kB); it only keeps
	// an endless body from filling the memory.
	maxBody = 8 << 20

	// maxErrorBody holds any error message. What comes after it is read and forgotten.
	maxErrorBody = 64 << 10

	// maxDrain is what is read of a body that nobody needs, so that its connection can
	// be used again: a new one, with TLS, costs about as much as this.
	maxDrain = 256 << 10

	// freeBody is what each body may take for itself: nearly all answers are shorter. It also bounds
	// what is set aside on the word of Content-Length.
	freeBody = 8 << 10

	// allBodies bounds what the longer ones take together, in steps of bodyStep: 250 times all topics.
	// They take up to three times as much while they are read.
	allBodies = 16 << 20
	bodyStep  = 16 << 10
)

var errBodyTooLarge = errors.New("the service's answer is over 8 MiB")

// counted is a body that takes its share of the room for all. While there is none it is not read.
type counted struct {
	io.Reader
	ctx   context.Context
	share *room.Share
	left  int64 // of what was taken
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b[:min(len(b), bodyStep)])
	for c.left -= int64(n); c.left < 0 && err == nil; c.left += bodyStep {
		err = c.share.Grow(c.ctx, bodyStep)
	}
	return n, err
}

func count(ctx context.Context, resp *http.Response, share *room.Share, most int64) io.Reader {
	return &counted{Reader: io.LimitReader(resp.Body, most), ctx: ctx, share: share, left: freeBody}
}

// readBody reads a whole body, to its end, which gives its connection back. It leaves a byte
// order mark out.
func readBody(ctx context.Context, resp *http.Response, share *room.Share) ([]byte, error) {
	size := min(max(resp.ContentLength, 512), freeBody)
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := buf.ReadFrom(count(ctx, resp, share, maxBody+1))
	if err == nil && n > maxBody {
		err = errBodyTooLarge
	}
	return bytes.TrimPrefix(buf.Bytes(), byteOrderMark), err
}

// byteOrderMark is what RFC 8259, section 8.1, lets readers of JSON ignore.
var byteOrderMark = []byte("\ufeff")

// readErrorBody reads what there is of an error's body; where it breaks off does not
// matter.
func readErrorBody(ctx context.Context, resp *http.Response, share *room.Share) []byte {
	body, err := io.ReadAll(count(ctx, resp, share, maxErrorBody))
	if err == nil && len(body) == maxErrorBody {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	}
	return bytes.TrimPrefix(body, byteOrderMark)
}

// snippet is the service's own words for an error message: its JSON message if it has
// one, else the head of the body; one line that does nothing to a terminal, without the
// secrets should they be echoed.
func (c *HTTP) snippet(body []byte) string {
	const longest = 160
	text := c.secrets.hide(errorMessage(body, 2)) // before it is cut, perhaps within a secret
	text = text[:min(len(text), 1024)]
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}

// errorMessage looks for the usual members of a JSON error body, down to some levels.
func errorMessage(body []byte, levels int) string {
	var members map[string]json.RawMessage
	if levels > 0 && json.Unmarshal(body, &members) == nil {
		for _, name := range []string{"message", "error", "detail", "error_description", "title"} {
			var text string
			if raw, ok := members[name]; ok {
				if json.Unmarshal(raw, &text) == nil && text != "" {
					return text
				}
				if len(raw) > 0 && raw[0] == '{' {
					return errorMessage(raw, levels-1)
				}
			}
		}
	}
	return string(body)
}
