package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"slices"
	"strings"
)

// secrets replaces the API key and the values of secret headers in responses: some services echo a wrong
// key in their errors.
type secrets struct {
	text   *strings.Replacer // for messages; nil if there are no secrets
	answer [][]byte          // secrets that are replaced in answers as well
}

const (
	hidden = "[secret]"

	// leastSecret is the length of the shortest header value that is hidden, in bytes. Hiding shorter
	// values would make errors illegible.
	leastSecret = 4

	// leastWord is the length of the shortest word of a header value that is hidden by itself, in bytes:
	// "Bearer" is not hidden.
	leastWord = 8

	// leastInAnswer is the length of the shortest secret that is hidden in answers, in bytes. A common
	// word given as a key must not change the categories.
	leastInAnswer = 16
)

func newSecrets(key string, headers []Header) secrets {
	var s secrets
	var pairs []string
	for _, secret := range secretValues(key, headers) {
		for _, spelling := range spellings(secret) {
			pairs = append(pairs, spelling, hidden)
			if len(secret) >= leastInAnswer && !strings.Contains(secret, " ") {
				s.answer = append(s.answer, []byte(spelling))
			}
		}
	}
	if pairs != nil {
		s.text = strings.NewReplacer(pairs...)
	}
	return s
}

// secretValues returns the secrets, the longest first, so that none is hidden in part. Each word of a header
// value is a secret by itself: a service may echo the token alone.
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

// spellings returns the encodings of a text in URLs, JSON and HTML.
func spellings(text string) []string {
	forms := []string{text, url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text)}
	if quoted, err := json.Marshal(text); err == nil {
		forms = append(forms, strings.Trim(string(quoted), `"`))
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

func (s secrets) hide(text string) string {
	if s.text == nil {
		return text
	}
	return s.text.Replace(text)
}

// hideIn returns err itself if its text contains no secret.
func (s secrets) hideIn(err error) error {
	text := err.Error()
	if safe := s.hide(text); safe != text {
		return errors.New(safe)
	}
	return err
}

// hideInAnswer returns body itself if it contains no secret.
func (s secrets) hideInAnswer(body []byte) []byte {
	for _, secret := range s.answer {
		if bytes.Contains(body, secret) {
			body = bytes.ReplaceAll(body, secret, []byte(hidden))
		}
	}
	return body
}
