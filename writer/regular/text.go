package regular

import (
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Text returns the content of a text file as UTF-8 without a byte order mark. It decodes UTF-16 with a byte order mark, which
// shells and editors of Windows write. Other content is unchanged.
func Text(content []byte) ([]byte, error) {
	text, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), content)
	return text, err
}
