package embedded

import (
	"path"
	"strings"
	"unicode"
)

// signposts are words of paths that say where on a site a page stands and
// nothing about it. Left in, "home" is furniture and "index" is a fund.
var signposts = map[string]bool{
	"index": true, "default": true, "home": true, "main": true, "page": true, "pages": true,
	"product": true, "products": true, "item": true, "items": true, "dp": true, "p": true,
	"category": true, "categories": true, "collection": true, "collections": true,
	"shop": true, "store": true, "www": true, "html": true, "en": true, "us": true, "uk": true,
}

// maxExtension is the longest file name extension, with its dot: ".shtml".
const maxExtension = 6

// pathWords returns the words of a URL's path in order, without numbers, file
// name extensions and signposts: "/shop/trail-shoes-42.html" has "trail" and
// "shoes".
func pathWords(urlPath string) []string {
	var words []string
	for segment := range strings.SplitSeq(urlPath, "/") {
		if ext := path.Ext(segment); len(ext) <= maxExtension {
			segment = strings.TrimSuffix(segment, ext)
		}
		for word := range strings.FieldsFuncSeq(segment, isSeparator) {
			if hasLetter(word) && !signposts[strings.ToLower(word)] {
				words = append(words, word)
			}
		}
	}
	return words
}

// isSeparator keeps marks, which are parts of letters in many scripts.
func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

func hasLetter(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
