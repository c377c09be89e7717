package page

import (
	"bytes"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// attributes are the attributes of one tag that this package uses, by name. Their bytes are valid until the tokenizer's next token.
type attributes map[string][]byte

var attributeNames = words.Set("id class role style hidden name property http-equiv content alt src type itemprop itemtype")

// read reads the attributes of the current tag. Of equal names, the first counts.
func (a attributes) read(z *html.Tokenizer, more bool) {
	clear(a)
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		name := atom.String(key)
		if _, ok := a[name]; !ok && attributeNames[name] {
			a[name] = value
		}
	}
}

// hints are words of attributes. A tag without any of these words is neither a hidden container nor a banner.
var hints = wordList("hidden none role cookie consent gdpr trust didomi usercentrics qc-cmp iubenda-cs borlabs cmplz termly klaro osano")

// mayHaveAttributes reports whether a tag may have attributes that this package uses. The tokenizer makes
// two allocations for every attribute that it reads.
func mayHaveAttributes(tag atom.Atom, raw []byte) bool {
	switch tag {
	case atom.Meta, atom.Script, atom.Iframe, atom.Frame, atom.Img:
		return true
	}
	if bytes.Contains(raw, []byte("itemprop")) || bytes.Contains(raw, []byte("itemtype")) {
		return true
	}
	if !containers[tag] {
		return false
	}
	var buffer [256]byte
	return len(raw) > len(buffer) || containsAny(lowered(&buffer, raw), hints)
}

// lowered copies the first 256 bytes of text into buffer, with ASCII letters in lower case.
func lowered(buffer *[256]byte, text []byte) []byte {
	lower := buffer[:copy(buffer[:], text)]
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	return lower
}

// isHidden reports whether an element's own attributes hide it.
func (a attributes) isHidden() bool {
	if _, ok := a["hidden"]; ok {
		return true
	}
	for style := range bytes.SplitSeq(a["style"], []byte(";")) {
		key, value, _ := bytes.Cut(style, []byte(":"))
		switch key, value := bytes.TrimSpace(key), bytes.TrimSpace(value); {
		case bytes.EqualFold(key, []byte("display")) && hasPrefixFold(value, "none"),
			bytes.EqualFold(key, []byte("visibility")) && hasPrefixFold(value, "hidden"):
			return true
		}
	}
	return false
}

func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && bytes.EqualFold(text[:len(prefix)], []byte(prefix))
}

// consentWords are the names and the subjects of programs that ask for consent to cookies. An
// element whose id or class has a consent word is a banner.
var consentWords = wordList("consent gdpr onetrust cookiebot cookieconsent cookielaw cookieyes cookiefirst " +
	"didomi usercentrics qc-cmp truste iubenda-cs borlabs cmplz termly klaro osano")

// bannerWords distinguish a cookie banner from a bakery's cookies: the id or class of a banner has a banner word.
var bannerWords = wordList("banner bar notice popup modal dialog overlay message msg law policy info accept alert " +
	"warning disclaimer settings preferences privacy wall hint layer manager container wrapper")

func wordList(words string) [][]byte { return bytes.Fields([]byte(words)) }

// isConsent reports whether an element's id or class is the name of a cookie or consent banner.
func (a attributes) isConsent() bool {
	if isConsentName(a["id"], a["role"]) {
		return true
	}
	for class := range bytes.FieldsSeq(a["class"]) {
		if isConsentName(class, a["role"]) {
			return true
		}
	}
	return false
}

func isConsentName(name, role []byte) bool {
	var buffer [256]byte
	lower := lowered(&buffer, name)
	if isState(lower) {
		return false
	}
	if containsAny(lower, consentWords) {
		return true
	}
	if !bytes.Contains(lower, []byte("cookie")) {
		return false
	}
	return containsAny(lower, bannerWords) || hasPrefixFold(role, "dialog") || hasPrefixFold(role, "alert")
}

// isState reports whether a class only states that the page has a banner, or has none.
func isState(name []byte) bool {
	return slices.ContainsFunc([]string{"has-", "no-", "with-", "is-", "show-", "needs-", "js-"}, func(prefix string) bool {
		return bytes.HasPrefix(name, []byte(prefix))
	})
}

func containsAny(text []byte, words [][]byte) bool {
	return slices.ContainsFunc(words, func(word []byte) bool { return bytes.Contains(text, word) })
}
