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

	"github.com/bulkcat/bulkcat/client/internal/memory"
)

// Entry is one category of an answer.
type Entry struct {
	Value      string  // a path "A > B > C", or a code: see Codes
	Title      string  // the code's title; "" for a path
	Confidence float64 // as the service gave it, usually 0 to 1; NaN if it gave none
}

// Basis is what an answer rests on.
type Basis string

// What answers rest on. A hosted service does not say more than that it has answered.
const (
	BasisService Basis = "service" // a hosted service
	BasisPage    Basis = "page"    // the page of the website or the product
	BasisName    Basis = "name"    // the name of the website, or the words of the URL: no page was read
	BasisTitle   Basis = "title"   // the title of the product
	BasisModel   Basis = "model"   // a model that answers in place of a hosted service
)

// Answer is the service's categories for one request.
type Answer struct {
	Entries    []Entry   // in the service's order; empty if no category fits
	Dropped    int       // number of entries without a value, which Entries leaves out
	Body       []byte    // the response's JSON, without a byte order mark; the store keeps it
	AnsweredAt time.Time // UTC, in whole microseconds
	Status     int       // HTTP status; 0 if the answer is from the store or from the embedded service
	Limit      RateLimit
	Bare       bool  // the body has no list of entries, not even an empty one
	Free       bool  // the answer cost nothing and is not stored
	Shared     bool  // a gateway had stored the answer, or was already asking for it: the attempt cost nothing
	Basis      Basis // "" if unknown, as for an HTTP and for the store
	Unread     bool  // the page could not be read

	share *memory.Share // Body's share of HTTP.bodies; nil if no HTTP has read Body
}

// Best returns the first entry with the highest confidence. It panics if the answer has no entries.
func (a *Answer) Best() Entry {
	best := a.Entries[0]
	for _, e := range a.Entries[1:] {
		if e.Confidence > best.Confidence || math.IsNaN(best.Confidence) && !math.IsNaN(e.Confidence) {
			best = e
		}
	}
	return best
}

// Release drops the body of an answer. If an [HTTP] has read the body, Release also returns the memory to the pool that bounds
// the memory of all bodies of the HTTP.
func Release(a *Answer) {
	a.share.Release()
	a.Body, a.share = nil, nil
}

var (
	errNotObject = errors.New("the answer is not a JSON object")
	errNoEntries = errors.New("the answer has a message in place of entries")
)

// ParseAnswer decodes the body of an answer: a JSON object in which the member named after the classification is an array of
// entries. ParseAnswer ignores other members, and drops and counts entries without a value. The interface does not fix the
// member's name for a custom classification. If no member has that name, and exactly one member is a list of entries,
// ParseAnswer takes that member. The error says which part of the body is wrong. The Answer keeps body and has no AnsweredAt.
func ParseAnswer(body []byte, classification string) (Answer, error) {
	if entries, dropped, ok := decodeAnswer(body, classification); ok {
		return Answer{Entries: entries, Dropped: dropped, Body: body}, nil
	}
	return parseAnyAnswer(body, classification)
}

// parseAnyAnswer decodes an answer with encoding/json.
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
		return Answer{}, notEntries(list, classification)
	}
	return Answer{Entries: entries, Dropped: dropped, Body: body}, nil
}

// notEntries returns the error of a member that is no list of entries.
func notEntries(list json.RawMessage, classification string) error {
	err := json.Unmarshal(list, new([]wireEntry))
	if other, is := errors.AsType[*json.UnmarshalTypeError](err); is && other.Field != "" { // the field of an entry
		return fmt.Errorf("an entry of the answer's member %q has a %q that is of type %s, not a text", classification, other.Field, other.Value)
	}
	return fmt.Errorf("the answer's member %q is not a list of entries", classification)
}

// onlyList returns the name of the only member that is a list of entries; "" if there is none or several.
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

type wireEntry struct {
	Value      looseString     `json:"value"`
	Title      looseString     `json:"title"`
	Confidence json.RawMessage `json:"confidence"`
}

// confidenceOf decodes a JSON number, or a string that holds one. Any other value is NaN; the entry is kept.
func confidenceOf(raw json.RawMessage) float64 {
	text := bytes.TrimSpace(bytes.Trim(raw, `"`))
	if f, err := strconv.ParseFloat(string(text), 64); err == nil && json.Valid(text) {
		return f
	}
	return math.NaN()
}

// looseString accepts a JSON number as well as a string: some services send codes without quotes.
type looseString string

func (s *looseString) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') {
		*s = looseString(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(s))
}
