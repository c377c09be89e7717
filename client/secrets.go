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

// secrets hides the API key, and the values of secret headers, in what a service sends
// back: some echo a bad key in their errors.
type secrets struct {
	text   *strings.Replacer // for what people read; nil if there is nothing to hide
	answer [][]byte          // the secrets that are hidden in answers, too
	marked []byte            // put in their place
}

const (
	hidden = "[secret]"

	// leastSecret is the length of the shortest header value that is hidden: less is no
	// secret, and hiding it would leave no error legible.
	leastSecret = 4

	// leastWord is the same for a word of such a value: "Bearer" is none.
	leastWord = 8

	// leastInAnswer is the length of the shortest secret that is hidden in answers. They
	// are data, which no common word given as a key must change.
	leastInAnswer = 16
)

func newSecrets(key string, headers []Header) secrets {
	s := secrets{marked: []byte(hidden)}
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

// secretValues gives the longest first, so that none is hidden in part.
// The words of a value count by themselves: a service may echo the token alone.
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

// spellings are the forms that a text takes in URLs, JSON and HTML.
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

// hideIn keeps an error that tells no secret as it is.
func (s secrets) hideIn(err error) error {
	text := err.Error()
	if safe := s.hide(text); safe != text {
		return errors.New(safe)
	}
	return err
}

// hideInAnswer gives the body itself where it holds no secret, as nearly all do.
func (s secrets) hideInAnswer(body []byte) []byte {
	for _, secret := range s.answer {
		if bytes.Contains(body, secret) {
			body = bytes.ReplaceAll(body, secret, s.marked)
		}
	}
	return body
}
