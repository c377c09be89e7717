package embedded

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// plainPathWords are words of paths that say nothing about a page's subject. "home" would match furniture, and "index" funds.
var plainPathWords = map[string]bool{
	"index": true, "default": true, "home": true, "main": true, "page": true, "pages": true,
	"product": true, "products": true, "item": true, "items": true, "dp": true, "p": true, "pd": true, "sku": true,
	"category": true, "categories": true, "collection": true, "collections": true, "catalog": true, "catalogue": true,
	"detail": true, "details": true, "view": true, "buy": true, "id": true, "ref": true, "node": true,
	"shop": true, "store": true, "www": true, "html": true, "php": true,
	"en": true, "us": true, "uk": true, "gb": true, "fr": true, "es": true, "nl": true, "pt": true, "ca": true, "au": true,
}

// maxExtension is the length of the longest file name extension with its dot, ".shtml".
const maxExtension = 6

// pathWords returns the words of a URL's path in order, without numbers, file name extensions and plainPathWords:
// "/shop/trail-shoes-42.html" gives "trail" and "shoes".
func pathWords(urlPath string) []string {
	var words []string
	for segment := range strings.SplitSeq(urlPath, "/") {
		words = append(words, slugWords(segment)...)
	}
	return words
}

// slugTitle returns a product title from a URL's path. The last segment names the product, and the segments before it name its
// kind: "/shoes/trail/roadrunner-42.html" gives "roadrunner, trail, shoes".
func slugTitle(urlPath string) string {
	var parts []string
	for segment := range strings.SplitSeq(urlPath, "/") {
		if words := slugWords(segment); len(words) > 0 {
			parts = append(parts, strings.Join(words, " "))
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, ", ")
}

// slugWords returns the words of one segment of a path.
func slugWords(segment string) []string {
	if ext := path.Ext(segment); len(ext) <= maxExtension {
		segment = strings.TrimSuffix(segment, ext)
	}
	var words []string
	for word := range strings.FieldsFuncSeq(segment, isSeparator) {
		if hasLetter(word) && !plainPathWords[strings.ToLower(word)] {
			words = append(words, word)
		}
	}
	return words
}

// isSeparator is false for combining characters, which are parts of letters in many scripts.
func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

func hasLetter(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
