package embedded

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// plainPathWords are words of paths that say nothing about a page's subject. "home" would match furniture, and "index" funds.
var plainPathWords = words.Set(`index default home main page pages product products item items dp p pd sku category categories
	collection collections catalog catalogue detail details view buy id ref node shop store www html php
	en us uk gb fr es nl pt ca au`)

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
	var list []string
	for word := range strings.FieldsFuncSeq(segment, words.IsSeparator) {
		if hasLetter(word) && !plainPathWords[strings.ToLower(word)] {
			list = append(list, word)
		}
	}
	return list
}

func hasLetter(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
