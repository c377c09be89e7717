package weburl

import "strings"

// removeDots replaces backslashes by slashes and removes dot segments, escaped or not.
func removeDots(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if !strings.Contains(path, "/.") && !strings.Contains(path, "/%2") {
		return path
	}
	kept := []string{""} // before the first slash
	segments := strings.Split(path, "/")[1:]
	for i, segment := range segments {
		isLast := i == len(segments)-1
		switch dots(segment) {
		case ".":
		case "..":
			kept = kept[:max(1, len(kept)-1)]
		default:
			kept = append(kept, segment)
			continue
		}
		if isLast {
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/")
}

// dots returns a segment with its dots unescaped if the segment may be a dot segment.
func dots(segment string) string {
	if len(segment) > len("%2e%2e") {
		return segment
	}
	return strings.ReplaceAll(strings.ReplaceAll(segment, "%2e", "."), "%2E", ".")
}

const (
	unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"

	// inPath are the characters that stay in a path. If a path has a character outside inPath and mayStay, this character and all
	// mayStay are escaped. That is the rule of net/url, which stored requests follow. A browser escapes neither mayStay nor | and
	// ^.
	inPath  = unreserved + "%$&+,/:;=@"
	mayStay = "!'()*[]"
)

// escapePath escapes the characters of a path that a URL must not have. Escapes stay, and so do percent
// signs that begin no escape.
func escapePath(path string) string {
	if !pathSet.lacks(path) {
		return path
	}
	return escapedPathSet.escape(path)
}

// escapeQuery escapes the characters of a query that browsers escape, except the apostrophe, which is not escaped in stored
// requests.
func escapeQuery(query string) string { return querySet.escape(query) }

// A set is a set of bytes that are not escaped.
type set [256]bool

var (
	escapedPathSet = newSet(inPath)
	pathSet        = newSet(inPath + mayStay)
	querySet       = newSet(inPath + mayStay + "?{}|\\^`")
)

func newSet(characters string) *set {
	var s set
	for _, c := range []byte(characters) {
		s[c] = true
	}
	return &s
}

// lacks reports whether a text has a byte that is not in the set.
func (s *set) lacks(text string) bool {
	for i := range len(text) {
		if !s[text[i]] {
			return true
		}
	}
	return false
}

// escape escapes the bytes that are not in the set.
func (s *set) escape(text string) string {
	if !s.lacks(text) {
		return text
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		if s[c] {
			b.WriteByte(c)
		} else {
			WriteEscape(&b, c)
		}
	}
	return b.String()
}

// WriteEscape writes c with a percent sign.
func WriteEscape(b *strings.Builder, c byte) {
	const hex = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&15])
}

// escapePercent escapes the percent signs that begin no escape.
func escapePercent(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('%')
		if len(after) < 2 || !IsHex(after[0]) || !IsHex(after[1]) {
			b.WriteString("25")
		}
		text = after
	}
}

// IsHex reports whether c is a hexadecimal digit.
func IsHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
