package page

import (
	"context"
	"io"

	"golang.org/x/net/html"

	"github.com/bulkcat/bulkcat/client/internal/room"
)

const (
	// freeToken is how long a tag or a stretch of text may be that each page has
	// the memory for, in bytes.
	freeToken = 16 << 10

	// allTokens bounds the memory that the longer tokens of all pages take
	// together: a hundred inline scripts of 100 KiB.
	allTokens = 48 << 20

	// The bytes of memory that one byte of a token may take: the tokenizer keeps
	// a name, a place and an entry of a map for each attribute, and parsed JSON
	// has a map for each object.
	tagCost  = 32
	jsonCost = 48
	textCost = 4
)

var tokens = room.New(allTokens)

// A filler fills the tokenizer's buffer, as far as there is something to read,
// piece by piece. The tokenizer copies its token with every read, which takes
// the square of the token's length where a server sends a few bytes at a time.
// Before a long token grows, the filler takes its share of the memory for all.
type filler struct {
	io.Reader
	ctx       context.Context
	tokenizer *html.Tokenizer
	scanner   *scanner
	share     *room.Share
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

// admit takes the memory that a token needs which is to grow by a piece. What
// was taken stays taken, as the tokenizer keeps its memory.
func (f *filler) admit(token []byte) error {
	if len(token) < freeToken {
		return nil
	}
	cost := textCost
	switch {
	case token[0] == '<' && token[1] >= 'A' && f.scanner.script == noScript: // and no comment
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
