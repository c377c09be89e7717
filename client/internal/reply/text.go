// Package reply reads what the response of a service says beside the categories: that the service is out or limited, when to ask
// again, and why. Services do this in many ways, so no text is an error: text that is not understood says nothing.
package reply

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"regexp"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// ToUTF8 returns a body in UTF-8, without a byte order mark. It detects UTF-16 by the first character, which is ASCII in JSON
// and in pages (RFC 4627 §3). The content type names other encodings, but a body that is valid UTF-8 is taken as UTF-8, because
// frameworks name ISO-8859-1 by default. A body in an unknown encoding is returned unchanged.
func ToUTF8(body []byte, contentType string) []byte {
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

// byteOrderMark may be ignored before JSON (RFC 8259 §8.1).
var byteOrderMark = []byte("\ufeff")

// htmlTags matches the tags, styles, scripts and comments of an HTML page, which may be truncated.
var htmlTags = regexp.MustCompile(`(?is)<(style|script)\b.*?(</(style|script)\s*>|$)|<!--.*?(-->|$)|</?[a-z!?][^<>]*(>|$)`)

// WithoutTags returns a text without the tags of HTML.
func WithoutTags(text string) string { return htmlTags.ReplaceAllString(text, " ") }

// IsPage reports whether a body is HTML or XML.
func IsPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// Message returns the usual message member of a JSON error body, else the body.
func Message(body []byte) string { return message(body, 2) }

// message is Message for a JSON value that is searched to a depth of levels.
func message(body []byte, levels int) string {
	var members map[string]json.RawMessage
	if levels > 0 && json.Unmarshal(body, &members) == nil {
		for _, name := range []string{"message", "error", "detail", "error_description", "title"} {
			var text string
			if raw, ok := members[name]; ok {
				if json.Unmarshal(raw, &text) == nil && text != "" {
					return text
				}
				if len(raw) > 0 && raw[0] == '{' {
					return message(raw, levels-1)
				}
			}
		}
	}
	return string(body)
}

// IsAnswer reports whether a status is the status of an answer: 2xx except 202 (still calculating).
func IsAnswer(status int) bool { return status/100 == 2 && status != http.StatusAccepted }

// IsRedirect reports whether a status is the status of a redirect.
func IsRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}
