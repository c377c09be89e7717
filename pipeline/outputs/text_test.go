package outputs

import (
	"io"
	"strings"
	"testing"
)

// TestCarriageReturns reads text with all line ends and with the escape itself back as it was written.
func TestCarriageReturns(t *testing.T) {
	for _, text := range []string{"a\r\nb", "\r", "\r\r\n\r", "\x1a", "\x1ar", "\x1as\r", "\x1a\x1a", strings.Repeat("x\r\n", 20_000)} {
		in, err := newCSVReader(&pieces{"h\n\"" + text + "\"\n"}, ',', false)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := in.next()
		if err != nil || rows[0][0] != text {
			t.Errorf("%.20q is read as %.20q, %v", text, rows, err)
		}
		if _, err := in.next(); err != io.EOF {
			t.Errorf("after %.20q: %v", text, err)
		}
	}
}

// pieces is a reader of a text in pieces of 7 bytes.
type pieces struct{ rest string }

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(7, len(b))], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
