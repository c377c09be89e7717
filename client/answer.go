package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/room"
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
	Dropped    int     // entries of the list that had no value
	Body       []byte  // the body as it came, without a byte order mark: what the store keeps
	AnsweredAt time.Time
	Limit      RateLimit
	Free       bool // cost nothing to get, and would cost nothing again: not stored

	share *room.Share // of the memory for bodies; nil for none
}

// Release drops the body. As long as it is kept, a client that asks has less memory for other ones.
func (a *Answer) Release() {
	a.share.Release()
	a.Body, a.share = nil, nil
}

var errNotObject = errors.New("the answer is not a JSON object")

// ParseAnswer reads an answer's body: a JSON object with a member named after the
// classification, an array of entries. Members beside the promised ones are ignored, and
// entries without a value are dropped and counted. The member's name of a custom
// classification is not promised, so for those the only list of entries there counts
// as well.
func ParseAnswer(body []byte, classification string) (Answer, error) {
	if entries, dropped, ok := decodeAnswer(body, classification); ok {
		return Answer{Entries: entries, Dropped: dropped, Body: body}, nil
	}
	return parseAnyAnswer(body, classification)
}

// parseAnyAnswer reads answers of all shapes that are understood.
func parseAnyAnswer(body []byte, classification string) (Answer, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return Answer{}, errNotObject
	}
	list, ok := members[classification]
	if !ok && strings.HasPrefix(classification, CustomPrefix) {
		list, ok = members[onlyList(members)]
	}
	if !ok {
		return Answer{}, fmt.Errorf("the answer has no member %q", classification)
	}
	entries, dropped, ok := parseList(list)
	if !ok {
		return Answer{}, fmt.Errorf("the answer's member %q is not a list of entries", classification)
	}
	return Answer{Entries: entries, Dropped: dropped, Body: body}, nil
}

// onlyList names the one member that is a list of entries; "" if there are none or more.
func onlyList(members map[string]json.RawMessage) string {
	only := ""
	for name, member := range members {
		if _, _, ok := parseList(member); !ok {
			continue
		}
		if only != "" {
			return ""
		}
		only = name
	}
	return only
}

func parseList(list json.RawMessage) (entries []Entry, dropped int, ok bool) {
	var wire []wireEntry
	if err := json.Unmarshal(list, &wire); err != nil || wire == nil {
		return nil, 0, false
	}
	entries = make([]Entry, 0, len(wire))
	for _, w := range wire {
		if w.Value == "" {
			dropped++
			continue
		}
		entries = append(entries, Entry{Value: string(w.Value), Title: string(w.Title), Confidence: confidenceOf(w.Confidence)})
	}
	return entries, dropped, true
}

// ownMember gives a custom classification's answer under its own name where the service
// has another for it: what is stored must be readable without these options.
func (c *HTTP) ownMember(body []byte, classification string) []byte {
	if c.options.CustomMember == "" || !strings.HasPrefix(classification, CustomPrefix) {
		return body
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	list, ok := members[c.options.CustomMember]
	if _, has := members[classification]; has || !ok {
		return body
	}
	own, err := json.Marshal(map[string]json.RawMessage{classification: list})
	if err != nil {
		return body
	}
	return own
}

type wireEntry struct {
	Value      looseString     `json:"value"`
	Title      looseString     `json:"title"`
	Confidence json.RawMessage `json:"confidence"`
}

// confidenceOf reads a number, or a string that holds one as JSON spells it. Anything else is no
// confidence, but leaves the entry what it is.
func confidenceOf(raw json.RawMessage) float64 {
	text := bytes.TrimSpace(bytes.Trim(raw, `"`))
	if n := numberLength(text); n > 0 && n == len(text) {
		if f, err := strconv.ParseFloat(string(text), 64); err == nil {
			return f
		}
	}
	return math.NaN()
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
