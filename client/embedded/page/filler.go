package page

import (
	"context"
	"io"

	"golang.org/x/net/html"

	"github.com/bulkcat/bulkcat/client/internal/memory"
)

const (
	// freeToken is the most bytes of a tag or a text that take no part of allTokens.
	freeToken = 16 << 10

	// allTokens is the most bytes of memory that the longer tokens of all pages take
	// together: enough for a hundred inline scripts of 100 KiB.
	allTokens = 48 << 20

	// The most bytes of memory for one byte of a token: the tokenizer has a name, a position
	// and an entry of a map for each attribute, and parsed JSON has a map for each object.
	tagCost  = 32
	jsonCost = 48
	textCost = 4
)

var tokens = memory.New(allTokens)

// A filler reads larger pieces than a slow server sends: the tokenizer copies its token with
// every read, and small reads would take quadratic time. Before a long token grows, the filler
// takes the memory from allTokens.
type filler struct {
	io.Reader
	ctx       context.Context
	tokenizer *html.Tokenizer
	scanner   *scanner
	share     *memory.Share
	taken     int64 // of the share
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

// admit takes the memory for a token that will grow by a piece. It is not given back before the
// page ends, because the tokenizer keeps its buffer.
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
