package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// secrets hides the API key and the values of secret headers in responses. Some services echo a wrong key in their errors.
type secrets struct {
	text   *strings.Replacer // for messages; nil if there are no secrets
	answer [][]byte          // secrets that are replaced in answers as well
	words  [][]byte          // secrets that may be ordinary words: hideBeside removes them, but not from entries
}

const (
	hidden = "[secret]"

	// leastSecret is the length of the shortest header value that is hidden, in bytes. Hiding shorter
	// values would make errors illegible.
	leastSecret = 4

	// leastWord is the length of the shortest word of a header value that is hidden by itself, in bytes:
	// "Bearer" is not hidden.
	leastWord = 8

	// leastInAnswer is the length of the shortest secret that is hidden in the entries of answers, in bytes. If a key is a
	// common word, it must not change the categories. A secret of leastWord bytes with letters and digits is no common word.
	leastInAnswer = 16
)

// isUncommon reports whether a secret cannot be a part of a category.
func isUncommon(secret string) bool {
	mixed := strings.ContainsAny(secret, "0123456789") && strings.ContainsFunc(secret, unicode.IsLetter)
	return !strings.Contains(secret, " ") && (len(secret) >= leastInAnswer || mixed && len(secret) >= leastWord)
}

func newSecrets(key string, headers []Header) secrets {
	var s secrets
	var pairs []string
	for _, secret := range secretValues(key, headers) {
		for _, spelling := range spellings(secret) {
			pairs = append(pairs, spelling, hidden)
			switch {
			case isUncommon(secret):
				s.answer = append(s.answer, []byte(spelling))
			case len(secret) >= leastSecret:
				s.words = append(s.words, []byte(spelling))
			}
		}
	}
	if pairs != nil {
		s.text = strings.NewReplacer(pairs...)
	}
	return s
}

// secretValues returns the secrets. The longest are first, because a secret may contain another. Each word of a header value is
// a secret by itself: a service may echo the token alone.
func secretValues(key string, headers []Header) []string {
	var values []string
	if key != "" {
		values = append(values, key)
	}
	for _, h := range headers {
		if !h.Secret {
			continue
		}
		if len(h.Value) >= leastSecret {
			values = append(values, h.Value)
		}
		for word := range strings.FieldsSeq(h.Value) {
			if len(word) >= leastWord {
				values = append(values, word)
			}
		}
	}
	slices.SortStableFunc(values, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(values)
}

// spellings returns the forms of a text in URLs, JSON and HTML.
func spellings(text string) []string {
	forms := []string{text, url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text)}
	forms = append(forms, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) // as unescape writes JSON
	slices.Sort(forms)
	return slices.Compact(forms)
}

// escapes matches the JSON escapes of printable ASCII characters, of which an API key consists. An escaped backslash is first,
// because it is never a part of another escape.
var escapes = regexp.MustCompile(`\\\\|\\/|\\u00[2-7][0-9a-fA-F]`)

// unescape decodes the JSON escapes of printable ASCII characters, except the quote and the backslash. The value of the JSON is
// the same.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return escapes.ReplaceAllFunc(text, func(escape []byte) []byte {
		switch string(escape) {
		case `\\`:
			return escape
		case `\/`:
			return escape[1:]
		}
		c, _ := strconv.ParseUint(string(escape[2:]), 16, 8) // four hexadecimal digits
		switch c {
		case '"', '\\':
			return []byte{'\\', byte(c)}
		case 0x7f:
			return escape
		}
		return []byte{byte(c)}
	})
}

func (s secrets) hide(text string) string {
	if s.text == nil {
		return text
	}
	if plain := string(unescape([]byte(text))); s.text.Replace(plain) != plain {
		text = plain
	}
	return s.text.Replace(text)
}

// hideIn hides secrets in the text of err. It returns err itself if there are none.
func (s secrets) hideIn(err error) error {
	text := err.Error()
	if safe := s.hide(text); safe != text {
		return errors.New(safe)
	}
	return err
}

// hideInAnswer hides uncommon secrets in body. It returns body itself if there are none.
func (s secrets) hideInAnswer(body []byte) []byte {
	if len(s.answer) == 0 {
		return body
	}
	if plain := unescape(body); containsAny(plain, s.answer) {
		body = plain
	}
	for _, secret := range s.answer {
		if bytes.Contains(body, secret) {
			body = bytes.ReplaceAll(body, secret, []byte(hidden))
		}
	}
	return body
}

// hideBeside reduces the body of an answer to its entries if the body contains a secret that may be a common word. In the
// entries, the word may be a part of a category.
func (s secrets) hideBeside(a *Answer, classification string) {
	if len(s.words) == 0 || !containsAny(unescape(a.Body), s.words) {
		return
	}
	type entry struct {
		Value      string   `json:"value"`
		Title      string   `json:"title,omitempty"`
		Confidence *float64 `json:"confidence,omitempty"`
	}
	entries := make([]entry, len(a.Entries))
	for i, e := range a.Entries {
		entries[i] = entry{Value: e.Value, Title: e.Title}
		if !math.IsNaN(e.Confidence) && !math.IsInf(e.Confidence, 0) {
			entries[i].Confidence = &e.Confidence
		}
	}
	a.Body, _ = json.Marshal(map[string][]entry{classification: entries}) // strings and finite numbers only
}

func containsAny(body []byte, secrets [][]byte) bool {
	return slices.ContainsFunc(secrets, func(secret []byte) bool { return bytes.Contains(body, secret) })
}
