package embedded

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// signposts are words of paths that say where on a site a page stands and
// nothing about it. Left in, "home" is furniture and "index" is a fund.
var signposts = map[string]bool{
	"index": true, "default": true, "home": true, "main": true, "page": true, "pages": true,
	"product": true, "products": true, "item": true, "items": true, "dp": true, "p": true, "pd": true, "sku": true,
	"category": true, "categories": true, "collection": true, "collections": true, "catalog": true, "catalogue": true,
	"detail": true, "details": true, "view": true, "buy": true, "id": true, "ref": true, "node": true,
	"shop": true, "store": true, "www": true, "html": true, "php": true,
	"en": true, "us": true, "uk": true, "gb": true, "fr": true, "es": true, "nl": true, "pt": true, "ca": true, "au": true,
}

// maxExtension is the longest file name extension, with its dot: ".shtml".
const maxExtension = 6

// pathWords returns the words of a URL's path in order, without numbers, file
// name extensions and signposts: "/shop/trail-shoes-42.html" has "trail" and
// "shoes".
func pathWords(urlPath string) []string {
	var words []string
	for segment := range strings.SplitSeq(urlPath, "/") {
		words = append(words, slugWords(segment)...)
	}
	return words
}

// slugTitle reads a URL's path as a product's title. The last segment names the
// product and those before it its kind, the nearest first:
// "/shoes/trail/roadrunner-42.html" is "roadrunner, trail, shoes".
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
		if hasLetter(word) && !signposts[strings.ToLower(word)] {
			words = append(words, word)
		}
	}
	return words
}

// isSeparator keeps marks, which are parts of letters in many scripts.
func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

func hasLetter(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
