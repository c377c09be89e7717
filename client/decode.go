package client

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Every answer is read once when it comes and again for each run over the store, and
// nearly all have the promised shape: encoding/json takes 10 µs for three entries, the
// decoder here takes 1 (BenchmarkParseAnswer). It understands plain JSON of that shape
// only. At whatever it does not understand it gives up, and encoding/json says what the
// body is worth.

// decodeAnswer reads the entries of an answer of the promised shape, and gives false for
// any other.
func decodeAnswer(body []byte, classification string) (entries []Entry, dropped int, ok bool) {
	d := decoders.Get().(*decoder)
	d.body, d.at, d.entries, d.dropped = body, 0, d.entries[:0], 0
	if ok = d.answer(classification); ok {
		entries, dropped = d.keep(), d.dropped
	}
	d.body = nil // keep no body alive
	decoders.Put(d)
	return entries, dropped, ok
}

var decoders = sync.Pool{New: func() any { return &decoder{texts: make(map[string]string)} }}

// decoder walks over a body from left to right.
type decoder struct {
	body    []byte
	at      int // in the body: what comes next
	entries []Entry
	slab    []Entry // where those of the next answers are kept
	dropped int
	texts   map[string]string // those met before: a taxonomy has few, answers many
}

// slabEntries are allocated at once, for the answers to come.
const slabEntries = 64

// keep gives a copy of the entries that lasts.
func (d *decoder) keep() []Entry {
	n := len(d.entries)
	if n > len(d.slab) || d.slab == nil { // no entries are not nil
		d.slab = make([]Entry, max(n, slabEntries))
	}
	kept := d.slab[:n:n]
	d.slab = d.slab[n:]
	copy(kept, d.entries)
	return kept
}

// maxTexts and maxText bound the memory of the texts met before; the largest public
// taxonomy has 5,600 categories.
const (
	maxTexts = 1 << 14
	maxText  = 512 // bytes
)

// answer reads the outer object.
func (d *decoder) answer(classification string) bool {
	found := false
	if !d.take('{') {
		return false
	}
	for n := 0; !d.take('}'); n++ {
		name, ok := d.nextName(n)
		switch {
		case !ok || !isPlain(name):
			return false
		case string(name) != classification:
			ok = d.skip(0)
		case !found:
			found, ok = true, d.list()
		default:
			ok = false // the last one counts; let encoding/json say so
		}
		if !ok {
			return false
		}
	}
	d.space()
	return found && d.at == len(d.body)
}

// list reads the list of entries.
func (d *decoder) list() bool {
	if !d.take('[') {
		return false
	}
	for n := 0; !d.take(']'); n++ {
		if n > 0 && !d.take(',') || !d.entry() {
			return false
		}
	}
	return true
}

// The members of an entry that have been met, for one that comes twice.
const (
	hasValue = 1 << iota
	hasTitle
	hasConfidence
)

func (d *decoder) entry() bool {
	e := Entry{Confidence: math.NaN()}
	met := 0
	if !d.take('{') {
		return false
	}
	for n := 0; !d.take('}'); n++ {
		name, ok := d.nextName(n)
		if !ok {
			return false
		}
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
		if !ok || met&member != 0 {
			return false
		}
		met |= member
	}
	if e.Value == "" {
		d.dropped++
	} else {
		d.entries = append(d.entries, e)
	}
	return true
}

// isFolded says whether encoding/json takes a name for one of an entry's members.
func isFolded(name []byte) bool {
	return slices.ContainsFunc(entryMembers, func(m []byte) bool { return bytes.EqualFold(name, m) })
}

var entryMembers = [][]byte{[]byte("value"), []byte("title"), []byte("confidence")}

// nextName reads the name of an object's member n and the colon behind it. What it gives is
// the name if it is plain.
func (d *decoder) nextName(n int) ([]byte, bool) {
	if n > 0 && !d.take(',') {
		return nil, false
	}
	name, ok := d.quoted()
	return name, ok && d.take(':')
}

// text reads a string.
func (d *decoder) text() (string, bool) {
	raw, ok := d.quoted()
	if !ok {
		return "", false
	}
	if text, met := d.texts[string(raw)]; met {
		return text, true
	}
	if !isPlain(raw) {
		return "", false
	}
	text := string(raw)
	if len(d.texts) < maxTexts && len(text) <= maxText {
		d.texts[text] = text
	}
	return text, true
}

// quoted reads to the next quote. What it gives is a string's content if it is plain.
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

// isPlain says whether a string's content stands for itself: no escapes, no control
// characters, and UTF-8.
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

// number reads a number as JSON spells it.
func (d *decoder) number() (float64, bool) {
	d.space()
	text := d.body[d.at:]
	if f, length := fraction(text); length > 0 {
		d.at += length
		return f, true
	}
	text = text[:numberLength(text)]
	d.at += len(text)
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil
}

// fraction reads a number like 0.87, as nearly all confidences are, in a quarter of the
// time of the general way; its length is 0 where b begins with any other. Digits and
// power of ten are exact as floating-point numbers, so their quotient is the nearest to
// what is written.
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

// numberLength is the length of the number that b begins with; 0 if there is none.
func numberLength(b []byte) int {
	digits := func(i int) int {
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	end := digits(i)
	if end == i || b[i] == '0' && end > i+1 {
		return 0
	}
	i = end
	if i < len(b) && b[i] == '.' {
		if end = digits(i + 1); end == i+1 {
			return 0
		}
		i = end
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if end = digits(i); end == i {
			return 0
		}
		i = end
	}
	return i
}

// maxSkipDepth bounds how deep values are skipped: those of services are flat.
const maxSkipDepth = 8

// skip passes over a value of any kind.
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
		d.at++
		for n := 0; !d.take('}'); n++ {
			if name, ok := d.nextName(n); !ok || !isPlain(name) || !d.skip(depth+1) {
				return false
			}
		}
		return true
	case '[':
		d.at++
		for n := 0; !d.take(']'); n++ {
			if n > 0 && !d.take(',') || !d.skip(depth+1) {
				return false
			}
		}
		return true
	}
	return d.skipWord()
}

// skipWord passes over a number, true, false or null.
func (d *decoder) skipWord() bool {
	rest := d.body[d.at:]
	n := numberLength(rest)
	for _, word := range [...]string{"true", "false", "null"} {
		if len(rest) >= len(word) && string(rest[:len(word)]) == word {
			n = len(word)
		}
	}
	d.at += n
	return n > 0
}

// take passes over white space and c, and says whether c was there.
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
