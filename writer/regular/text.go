package regular

import (
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Text returns the content of a text file as UTF-8 without a byte order mark. UTF-16 is recognized by its mark: the shells
// and editors of Windows write it. Other content stays as it is.
func Text(content []byte) ([]byte, error) {
	text, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), content)
	return text, err
}
