package client

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Answers are decoded when they arrive, and again in every run over the store. The decoder in this file takes a tenth of the
// time of encoding/json (BenchmarkParseAnswer). It decodes only plain JSON of the shape that the interface defines, and leaves
// every other body to encoding/json.

// decodeAnswer decodes an answer of the interface's shape. ok is false for any other body.
func decodeAnswer(body []byte, classification string) (entries []Entry, dropped int, ok bool) {
	d := decoders.Get().(*decoder)
	d.body, d.at, d.entries, d.dropped = body, 0, d.entries[:0], 0
	if ok = d.answer(classification); ok {
		entries, dropped = d.keep(), d.dropped
	}
	d.body = nil // do not retain the body
	decoders.Put(d)
	return entries, dropped, ok
}

var decoders = sync.Pool{New: func() any { return &decoder{interned: make(map[string]string)} }}

// decoder decodes a body from left to right.
type decoder struct {
	body     []byte
	at       int // index of the next byte of body
	entries  []Entry
	slab     []Entry // memory for the entries of the next answers
	dropped  int
	interned map[string]string // strings that were decoded before: answers repeat the few strings of a taxonomy
}

// slabEntries is the number of entries in a slab. One slab serves several answers.
const slabEntries = 64

// keep returns a copy of the entries in a slab.
func (d *decoder) keep() []Entry {
	n := len(d.entries)
	if n > len(d.slab) || d.slab == nil { // a list without entries must not be nil
		d.slab = make([]Entry, max(n, slabEntries))
	}
	kept := d.slab[:n:n]
	d.slab = d.slab[n:]
	copy(kept, d.entries)
	return kept
}

// maxInterned and maxInternedLen bound the memory of decoder.interned. The largest public taxonomy has 5,600 categories.
const (
	maxInterned    = 1 << 14 // strings
	maxInternedLen = 512     // bytes of a string
)

// answer decodes the outer object.
func (d *decoder) answer(classification string) bool {
	found := false
	ok := d.members(func(name []byte) bool {
		switch {
		case !isPlain(name):
			return false
		case string(name) != classification:
			return d.skip(0)
		case found: // the name is repeated: encoding/json takes the last member
			return false
		}
		found = true
		return d.elements(func() bool { return d.entry() })
	})
	d.space()
	return ok && found && d.at == len(d.body)
}

// members decodes an object. It calls read for each member; the name is not decoded: see isPlain.
func (d *decoder) members(read func(name []byte) bool) bool {
	if !d.take('{') {
		return false
	}
	for n := 0; !d.take('}'); n++ {
		if n > 0 && !d.take(',') {
			return false
		}
		if name, ok := d.quoted(); !ok || !d.take(':') || !read(name) {
			return false
		}
	}
	return true
}

// elements decodes a list. It calls read for each element.
func (d *decoder) elements(read func() bool) bool {
	if !d.take('[') {
		return false
	}
	for n := 0; !d.take(']'); n++ {
		if n > 0 && !d.take(',') || !read() {
			return false
		}
	}
	return true
}

// The members of an entry, as bits, to detect a repeated member.
const (
	hasValue = 1 << iota
	hasTitle
	hasConfidence
)

func (d *decoder) entry() bool {
	e := Entry{Confidence: math.NaN()}
	seen := 0
	ok := d.members(func(name []byte) (ok bool) {
		member := 0
		switch string(name) {
		case "value":
			member = hasValue
			e.Value, ok = d.text()
		case "title":
			member = hasTitle
			e.Title, ok = d.text()
		case "confidence":
			member = hasConfidence
			e.Confidence, ok = d.number()
		default:
			ok = isPlain(name) && !isFolded(name) && d.skip(0)
		}
		ok = ok && seen&member == 0
		seen |= member
		return ok
	})
	switch {
	case !ok:
	case e.Value == "":
		d.dropped++
	default:
		d.entries = append(d.entries, e)
	}
	return ok
}

// isFolded reports whether a name equals a member of an entry if case is ignored, as encoding/json does.
func isFolded(name []byte) bool {
	return slices.ContainsFunc(entryMembers, func(m []byte) bool { return bytes.EqualFold(name, m) })
}

var entryMembers = [][]byte{[]byte("value"), []byte("title"), []byte("confidence")}

// text decodes a plain string.
func (d *decoder) text() (string, bool) {
	raw, ok := d.quoted()
	if !ok {
		return "", false
	}
	if text, ok := d.interned[string(raw)]; ok {
		return text, true
	}
	if !isPlain(raw) {
		return "", false
	}
	text := string(raw)
	if len(d.interned) < maxInterned && len(text) <= maxInternedLen {
		d.interned[text] = text
	}
	return text, true
}

// quoted reads a string up to the next quote. It does not decode the string: see isPlain.
func (d *decoder) quoted() ([]byte, bool) {
	if !d.take('"') {
		return nil, false
	}
	length := bytes.IndexByte(d.body[d.at:], '"')
	if length < 0 {
		return nil, false
	}
	content := d.body[d.at : d.at+length]
	d.at += length + 1
	return content, true
}

// isPlain reports whether the content of a JSON string is its value: valid UTF-8 without escapes and control characters.
func isPlain(content []byte) bool {
	ascii := true
	for _, c := range content {
		if c < ' ' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(content)
}

// number decodes a JSON number.
func (d *decoder) number() (float64, bool) {
	d.space()
	if f, length := fraction(d.body[d.at:]); length > 0 {
		d.at += length
		return f, true
	}
	f, err := strconv.ParseFloat(string(d.word()), 64)
	return f, err == nil
}

// fraction decodes a number such as 0.87, the form of nearly all confidences, faster than strconv.ParseFloat. length is 0 if b
// starts with another form. The digits and the power of ten are exact as floating-point numbers, so their quotient is correctly
// rounded.
func fraction(b []byte) (f float64, length int) {
	if len(b) < 3 || b[0] != '0' || b[1] != '.' {
		return 0, 0
	}
	digits, i := 0, 2
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		digits = digits*10 + int(b[i]-'0')
		if i++; i-2 == len(powersOfTen) {
			return 0, 0
		}
	}
	if i == 2 || i == len(b) || b[i] == 'e' || b[i] == 'E' {
		return 0, 0
	}
	return float64(digits) / powersOfTen[i-2], i
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// word reads a number, true, false or null. It returns nil for other text.
func (d *decoder) word() []byte {
	rest := d.body[d.at:]
	word := rest[:len(rest)-len(bytes.TrimLeft(rest, "+-.0123456789Eaeflnrstu"))]
	if !json.Valid(word) {
		return nil
	}
	d.at += len(word)
	return word
}

// maxSkipDepth is the deepest nesting of values that skip accepts.
const maxSkipDepth = 8

// skip skips a value of any type.
func (d *decoder) skip(depth int) bool {
	d.space()
	if d.at == len(d.body) || depth == maxSkipDepth {
		return false
	}
	switch d.body[d.at] {
	case '"':
		content, ok := d.quoted()
		return ok && isPlain(content)
	case '{':
		return d.members(func(name []byte) bool { return isPlain(name) && d.skip(depth+1) })
	case '[':
		return d.elements(func() bool { return d.skip(depth + 1) })
	}
	return d.word() != nil
}

// take skips white space and c, and reports whether c was there.
func (d *decoder) take(c byte) bool {
	if d.at < len(d.body) && d.body[d.at] <= ' ' {
		d.space()
	}
	if d.at == len(d.body) || d.body[d.at] != c {
		return false
	}
	d.at++
	return true
}

func (d *decoder) space() {
	for d.at < len(d.body) {
		switch d.body[d.at] {
		case ' ', '\t', '\r', '\n':
			d.at++
		default:
			return
		}
	}
}
