package normalize

import (
	"html"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

var (
	link     = regexp.MustCompile(`^\[[^\]]*\]\(([^()\s]+)\)$`)    // of Markdown
	bullet   = regexp.MustCompile(`^(?:[-*+•]|[0-9]{1,6}[.)])\s+`) // of a list
	note     = regexp.MustCompile(`\s+#.*$`)                       // after a website
	defanged = regexp.MustCompile(`(?i)^hxxp(s?)(\[?:\]?//)`)      // http, disguised so that programs do not link it
	dot      = regexp.MustCompile(`(?i)\[\.\]|\(\.\)|\[dot\]`)     // a dot, disguised in the same way
	quotes   = []string{`""`, `''`, "``", "<>", "“”", "„“", "«»"}  // around a website
	domains  = `[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.(?:com|org|net|info|biz|edu|gov|io|co|eu|de|uk|fr|it|es|nl|ru|cn|jp|br|in|au|ca|us|pl|ch|at|se|example)`
	next     = regexp.MustCompile(`(?i)(?:[,;|\s]["'<(]?|[\p{L}\p{N}])https?://|[,;|]\s*["'<(]?(?:www\.|` + domains + `(?:[/,;|\s]|$))|\.[a-z]{2,6}www\.`)
	tag      = regexp.MustCompile(`(?i)<(/?)(a|abbr|b|big|br|center|div|em|font|h[1-6]|i|li|mark|ol|p|s|small|span|strong|sub|sup|u|ul)(?:\s[^<>]*)?/?>`)
	entity   = regexp.MustCompile(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)
)

// unlisted returns the website in a line of a list: of a Markdown list, of quoted or defanged websites (hxxp, [.]), of patterns
// (*.example.com), of a hosts file, of source code ("example.com",), or before a note.
func unlisted(text string) (string, error) {
	text = strings.TrimSpace(bullet.ReplaceAllString(text, ""))
	text = note.ReplaceAllString(text, "")
	if parts := link.FindStringSubmatch(text); parts != nil {
		text = parts[1]
	}
	for _, pair := range quotes {
		runes := []rune(pair)
		if rest, ok := strings.CutPrefix(text, string(runes[0])); ok {
			if inner, ok := strings.CutSuffix(strings.TrimRight(rest, ",; "), string(runes[1])); ok {
				text = strings.TrimSpace(inner)
			}
		}
	}
	if !strings.Contains(text, "/") { // a path may end with a comma
		text = strings.TrimRight(text, ",; ")
	}
	text = defanged.ReplaceAllString(text, "http$1://")
	text = dot.ReplaceAllString(text, ".")
	text, err := ofHosts(text)
	if err != nil {
		return "", err
	}
	if host, _, _ := strings.Cut(text, "/"); next.MatchString(text) || areGlued(text) || strings.Count(host, ".") > 1 && areSeveral(host) {
		return "", errSeveral
	}
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "*"), "."); ok {
		text = rest
	}
	return text, nil
}

// glued are top-level domains that areGlued looks for in the middle of a label.
var glued = []string{"com", "net", "org", "info", "de", "co"}

// areGlued reports whether the host of a text is a name twice, each with a top-level domain: example.comexample.org. Two
// different names without a separator are a valid host.
func areGlued(text string) bool {
	if _, rest, found := strings.Cut(text, "://"); found {
		text = rest
	}
	host, _, _ := strings.Cut(strings.ToLower(text), "/")
	before := ""
	for label := range strings.SplitSeq(host, ".") {
		if repeats(before, label) {
			return true
		}
		before = label
	}
	return false
}

// repeats reports whether a label is a top-level domain followed by the label before it. Short names are ignored, because they
// may match by chance.
func repeats(before, label string) bool {
	const long = 5
	return len(before) >= long && strings.HasSuffix(label, before) && slices.Contains(glued, strings.TrimSuffix(label, before))
}

// areSeveral reports whether a text without slashes has several hosts.
func areSeveral(text string) bool {
	hosts := 0
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(",;| \t\r\n", r) }) {
		if strings.Contains(strings.Trim(part, "."), ".") {
			hosts++
		}
	}
	return hosts > 1
}

// ofHosts returns the host in a line of a hosts file, and other text unchanged.
func ofHosts(text string) (string, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return text, nil
	}
	addr, err := netip.ParseAddr(fields[0])
	if err != nil {
		return text, nil
	}
	switch {
	case len(fields) > 2:
		return "", errSeveral
	case fields[1] == addr.String():
		return "", errNotURL
	}
	return fields[1], nil
}

// unmarked returns a title without the tags and entities of HTML.
func unmarked(title string) string {
	for strings.ContainsAny(title, "<&") {
		plain := tag.ReplaceAllStringFunc(title, func(t string) string {
			switch name := strings.ToLower(strings.Trim(t, "</> ")); {
			case strings.HasPrefix(name, "br"), name == "p", name == "div", name == "li":
				return " "
			}
			return ""
		})
		plain = entity.ReplaceAllStringFunc(plain, html.UnescapeString)
		if plain == title {
			break
		}
		title = plain
	}
	return title
}
