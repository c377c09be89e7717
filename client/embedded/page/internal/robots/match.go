package robots

import (
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

// rule allows or disallows the paths whose beginning matches its pattern. In a pattern * matches
// any characters, and $ at the end matches the path's end.
type rule struct {
	allow   bool
	pattern string // normalized
}

// matches finds each piece between two stars at its first place after the previous piece: if the pieces match anywhere, they
// match there.
func (r rule) matches(path string) bool {
	pattern, anchored := strings.CutSuffix(r.pattern, "$")
	piece, rest, starred := strings.Cut(pattern, "*")
	path, ok := strings.CutPrefix(path, piece)
	if !ok {
		return false
	}
	for starred {
		piece, rest, starred = strings.Cut(rest, "*")
		if !starred && anchored {
			return strings.HasSuffix(path, piece)
		}
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		path = path[at+len(piece):]
	}
	return !anchored || path == ""
}

// normalize makes paths and patterns comparable octet by octet (§2.2.2): it percent-encodes
// characters beyond ASCII, decodes characters that need no encoding, and uses upper-case digits.
func normalize(path string) string {
	if !strings.ContainsFunc(path, func(c rune) bool { return c == '%' || c >= 0x80 }) {
		return path
	}
	var b strings.Builder
	b.Grow(len(path) + 16)
	for i := 0; i < len(path); i++ {
		c := path[i]
		encoded := c >= 0x80
		if c == '%' && i+2 < len(path) {
			if escaped, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c, encoded = byte(escaped), !isUnreserved(byte(escaped))
				i += 2
			}
		}
		if encoded {
			weburl.WriteEscape(&b, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isUnreserved reports whether c is unreserved (RFC 3986 §2.3).
func isUnreserved(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("-._~", c) >= 0
}
