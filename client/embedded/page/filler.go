package page

import (
	"context"
	"io"

	"golang.org/x/net/html"

	"github.com/bulkcat/bulkcat/client/internal/memory"
)

const (
	// freeToken is the most bytes of a tag or a text that do not count towards allTokens.
	freeToken = 16 << 10

	// allTokens bounds the memory of the longer tokens of all pages, in bytes: enough for a hundred inline scripts of 100 KiB.
	allTokens = 48 << 20

	// The most bytes of memory for one byte of a token: the tokenizer has a name, a position
	// and an entry of a map for each attribute, and parsed JSON has a map for each object.
	tagCost  = 32
	jsonCost = 48
	textCost = 4
)

var tokens = memory.New(allTokens)

// A filler joins the small reads from a slow server to larger reads, because the tokenizer copies its token with every read,
// which would take quadratic time. Before a long token grows, the filler takes memory from allTokens.
type filler struct {
	io.Reader
	ctx       context.Context
	tokenizer *html.Tokenizer
	scanner   *scanner
	share     *memory.Share
	taken     int64 // bytes of share
}

func (f *filler) Read(b []byte) (n int, err error) {
	if err := f.admit(f.tokenizer.Raw()); err != nil {
		return 0, err
	}
	b = b[:min(len(b), freeToken)]
	for n < len(b) && err == nil {
		var more int
		if more, err = f.Reader.Read(b[n:]); more == 0 {
			break
		}
		n += more
	}
	return n, err
}

// admit takes the memory for the next read of a token. The memory is released at the end of the page, because the tokenizer
// keeps its buffer.
func (f *filler) admit(token []byte) error {
	if len(token) < freeToken {
		return nil
	}
	cost := textCost
	switch {
	case token[0] == '<' && token[1] >= 'A' && f.scanner.script == noScript: // a tag, not a comment
		cost = tagCost
		if len(token) > maxTag {
			return io.EOF
		}
	case f.scanner.script == jsonLD:
		cost = jsonCost
	}
	need := int64(cost) * int64(len(token)+freeToken)
	if need <= f.taken {
		return nil
	}
	err := f.share.Grow(f.ctx, need-f.taken)
	f.taken = need
	return err
}
