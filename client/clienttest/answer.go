package clienttest

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Value returns the first category of the correct answer to an input, if Options.Answer is nil.
func Value(input string) string {
	return "About > " + bare.Replace(input)
}

var bare = strings.NewReplacer("<", "", ">", "")

// appendValue appends an answer with Value(input) as the first category.
func appendValue(dst []byte, classification, input string) []byte {
	entries := []map[string]any{{"value": Value(input), "confidence": 0.5}, {"value": "Everything", "confidence": 0.25}}
	if client.Codes()[classification] != nil {
		entries[0]["title"] = "Title of " + input
	}
	body, _ := json.Marshal(map[string]any{classification: entries}) // strings and numbers
	return append(dst, body...)
}

// entries is the number of entries of a typical answer: 250 bytes.
const entries = 3

// AppendTypical appends an answer of the usual size, with categories of the real taxonomy. It is for Options.Answer.
func AppendTypical(dst []byte, classification, input string) []byte {
	categories := categoriesOf(classification)
	h := fnv.New64a()
	h.Write([]byte(input)) // never fails
	sum := h.Sum64()
	dst = append(dst, '{')
	dst = strconv.AppendQuote(dst, classification)
	dst = append(dst, ":["...)
	for i := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"value":`...)
		dst = strconv.AppendQuote(dst, categories[sum%uint64(len(categories))].Path)
		dst = append(dst, `,"confidence":`...)
		dst = strconv.AppendFloat(dst, confidence(sum, i), 'g', -1, 64)
		dst = append(dst, '}')
		sum = mix(sum)
	}
	return append(dst, "]}"...)
}

func categoriesOf(classification string) []taxonomy.Category {
	if classification == "taxonomy_v3" {
		return taxonomy.IAB().Categories
	}
	return taxonomy.Products().Categories
}

// confidence falls with the rank and has two decimals, as in real answers.
func confidence(sum uint64, rank int) float64 {
	return float64(95-25*rank-int(sum>>32%25)) / 100
}

// mix is a step of a linear congruential generator, with the constants of MMIX.
func mix(sum uint64) uint64 {
	sum = sum*6364136223846793005 + 1442695040888963407
	return sum ^ sum>>29
}
