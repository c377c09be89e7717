package normalize

import (
	"errors"
	"strings"

	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

var errPlaceholder = errors.New("a placeholder for a missing value")

// placeholders are texts that programs write for a missing value, in lower case. They are not names of products.
var placeholders = newPlaceholders(
	// pandas and readr
	"na", "n/a", "<na>", "#na", "#n/a n/a", "nan", "-nan", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "null", "none",
	// databases and their tools
	`\n`, "(null)", "[null]", "<null>",
	// other languages and people
	"nil", "undefined", "n.a", "n.a.", "(none)", "(blank)", "0",
	// errors of spreadsheets
	"#n/a", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#getting_data", "#spill!", "#calc!", "#field!", "#blocked!",
	"#connect!", "#busy!", "#unknown!", "#error!",
)

// marks are the characters of placeholders without letters and digits, such as "--" and "???".
const marks = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212.\u2026?#"

const (
	longestPlaceholder = 16                   // bytes
	firstBytes         = `nNuU01<([\` + marks // first bytes of all placeholders: a quick test for most inputs
)

func newPlaceholders(texts ...string) map[string]bool {
	set := make(map[string]bool)
	for _, text := range texts {
		set[text] = true
	}
	return set
}

// isPlaceholder reports whether an input is a placeholder. It ignores case and surrounding white space.
func isPlaceholder(input string) bool {
	text := weburl.Trim(input)
	if text == "" || strings.IndexByte(firstBytes, text[0]) < 0 {
		return false
	}
	return len(text) <= longestPlaceholder && placeholders[strings.ToLower(text)] || strings.Trim(text, marks) == ""
}

// isPlaceholderURL reports whether the host of a website is a placeholder, as in "https://N/A/" and "www.null". A text without
// a scheme and "www." is for isPlaceholder.
func isPlaceholderURL(input string) bool {
	text := weburl.Trim(input)
	if text == "" || strings.IndexByte("hHwW/", text[0]) < 0 {
		return false
	}
	rest := text
	if scheme, _, ok := weburl.CutScheme(text); ok {
		rest = text[len(scheme)+len(":"):]
	}
	for _, slashes := range []string{"/", `/\`} { // a backslash stands for a slash, or begins \N
		host := strings.TrimLeft(rest, slashes)
		if len(host) > 4 && strings.EqualFold(host[:4], "www.") {
			host = host[4:]
		}
		if len(host) < len(text) && (isPlaceholder(strings.TrimRight(host, slashes)) || isPlaceholder(cutHost(host))) {
			return true
		}
	}
	return false
}

// cutHost returns the host of a URL without a scheme.
func cutHost(url string) string {
	if end := strings.IndexAny(url, `:/\?#`); end >= 0 {
		return url[:end]
	}
	return url
}
