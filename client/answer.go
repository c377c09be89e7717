package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Entry is one category of an answer.
type Entry struct {
	Value      string  // a path "A > B > C", or an industry code for naics
	Title      string  // the code's title (naics only)
	Confidence float64 // as given, usually 0 to 1; NaN where the service gave none
}

// Answer is what the service said to one request.
type Answer struct {
	Entries    []Entry // in the service's order; none when nothing fits
	Body       []byte  // the body as it came: what the store keeps
	AnsweredAt time.Time
	Limit      RateLimit
	Free       bool // cost nothing to get, and would cost nothing again: not stored
}

var (
	errNotObject = errors.New("the answer is not a JSON object")
	errNoValue   = errors.New("an entry has no value")
)

// ParseEntries reads the entries out of an answer's body: a JSON object with a member
// named after the classification, an array of entries. The member's name of a custom
// classification is not promised, so for those the only member there is counts as well.
// Members beside the promised ones are ignored.
func ParseEntries(body []byte, classification string) ([]Entry, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return nil, errNotObject
	}
	list, ok := members[classification]
	if !ok && len(members) == 1 && strings.HasPrefix(classification, CustomPrefix) {
		for _, list = range members {
			ok = true
		}
	}
	if !ok {
		return nil, fmt.Errorf("the answer has no member %q", classification)
	}
	var wire []wireEntry
	if err := json.Unmarshal(list, &wire); err != nil || wire == nil {
		return nil, fmt.Errorf("the answer's member %q is not a list of entries", classification)
	}
	entries := make([]Entry, len(wire))
	for i, w := range wire {
		if w.Value == "" {
			return nil, errNoValue
		}
		entries[i] = Entry{Value: string(w.Value), Title: string(w.Title), Confidence: math.NaN()}
		if w.Confidence != nil {
			entries[i].Confidence = *w.Confidence
		}
	}
	return entries, nil
}

type wireEntry struct {
	Value      looseString `json:"value"`
	Title      looseString `json:"title"`
	Confidence *float64    `json:"confidence"`
}

// looseString takes a number as its text: codes are promised as strings, but a service
// that drops the quotes means the same.
type looseString string

func (s *looseString) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') {
		*s = looseString(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(s))
}
