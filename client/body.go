package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/bulkcat/bulkcat/client/internal/memory"
	"github.com/bulkcat/bulkcat/client/internal/reply"
)

const (
	// maxBody is the longest body of an answer, far above any real one (a list of all 703 topics is 60 kB).
	maxBody = 8 << 20

	// maxDrain is the longest rest of a body that is read to keep its connection. A new TLS connection costs about as much.
	maxDrain = 256 << 10

	// freeBody is the part of a body that does not count towards allBodies; nearly all answers are
	// shorter. It also bounds the buffer that a Content-Length field allocates.
	freeBody = 8 << 10

	// allBodies bounds the memory of all bodies together, beyond freeBody each, in steps of bodyStep. A growing buffer takes up
	// to three times as much while a body is read.
	allBodies = 16 << 20
	bodyStep  = 16 << 10
)

var errBodyTooLarge = errors.New("the service's answer is over 8 MiB")

// counted is a body that reserves memory in share as it is read. Read blocks while no memory is free.
type counted struct {
	io.Reader
	ctx   context.Context
	share *memory.Share
	left  int64 // bytes that are reserved but not read yet
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b[:min(len(b), bodyStep)])
	for c.left -= int64(n); c.left < 0 && err == nil; c.left += bodyStep {
		err = c.share.Grow(c.ctx, bodyStep)
	}
	return n, err
}

func count(ctx context.Context, resp *http.Response, share *memory.Share, most int64) io.Reader {
	return &counted{Reader: io.LimitReader(resp.Body, most), ctx: ctx, share: share, left: freeBody}
}

// readBody reads a whole body, which frees the connection for the next request, and returns it in UTF-8. The error is
// errBodyTooLarge, the transport's, or the context's.
func readBody(ctx context.Context, resp *http.Response, share *memory.Share) ([]byte, error) {
	size := min(max(resp.ContentLength, 512), freeBody)
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := buf.ReadFrom(count(ctx, resp, share, maxBody+1))
	if err == nil && n > maxBody {
		err = errBodyTooLarge
	}
	return reply.ToUTF8(buf.Bytes(), resp.Header.Get("Content-Type")), err
}

// readErrorBody reads up to reply.MaxErrorBody of an error's body, or the part before a read error, and returns it in UTF-8.
func readErrorBody(ctx context.Context, resp *http.Response, share *memory.Share) []byte {
	body, err := io.ReadAll(count(ctx, resp, share, reply.MaxErrorBody))
	if err == nil && len(body) == reply.MaxErrorBody {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	}
	return reply.ToUTF8(body, resp.Header.Get("Content-Type"))
}

// longestSnippet is the length of a snippet in characters.
const longestSnippet = 120

// snippet returns the service's message for an error: the message member of a JSON body, else the
// beginning of the body without HTML.
func (c *HTTP) snippet(body []byte) string {
	text := c.secrets.hide(reply.Message(body)) // before tags are removed: the result could contain parts of a secret
	return c.excerpt(reply.WithoutTags(text), longestSnippet)
}

// excerpt returns the beginning of a text of the service: one line of up to longest characters without control
// characters and without the secrets of the request.
func (c *HTTP) excerpt(text string, longest int) string {
	text = c.secrets.hide(text) // before the text is cut: the cut could split a secret
	text = text[:min(len(text), 8192)]
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}
