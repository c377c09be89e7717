package client

import (
	"bytes"
	"mime"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// toUTF8 returns a body in UTF-8, without a byte order mark. It detects UTF-16 by the first character, which is ASCII in JSON
// and in pages (RFC 4627 §3). The content type names other encodings, but a body that is valid UTF-8 is taken as UTF-8, because
// frameworks name ISO-8859-1 by default. A body in an unknown encoding is returned unchanged.
func toUTF8(body []byte, contentType string) []byte {
	if from := encodingOf(body, contentType); from != nil {
		if decoded, err := from.NewDecoder().Bytes(body); err == nil {
			body = decoded
		}
	}
	return bytes.TrimPrefix(body, byteOrderMark)
}

// encodingOf returns the encoding of a body; nil for UTF-8 and for an unknown encoding.
func encodingOf(body []byte, contentType string) encoding.Encoding {
	const escape = 0x1b // begins the escape sequences of ISO-2022-JP, whose other bytes are ASCII
	switch {
	case len(body) < 2:
	case body[0] == 0 || body[0] == 0xfe && body[1] == 0xff:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case body[1] == 0 || body[0] == 0xff && body[1] == 0xfe:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	if utf8.Valid(body) && bytes.IndexByte(body, escape) < 0 {
		return nil
	}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil
	}
	named, err := htmlindex.Get(params["charset"])
	if err != nil {
		return nil
	}
	return named
}
