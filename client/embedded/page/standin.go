package page

import (
	_ "embed"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// A standIn is a kind of stand-in: see standins.txt.
type standIn struct {
	reason  FailureKind
	most    int  // bytes of text at most
	isTitle bool // the words are titles, and not phrases
	words   []string
}

//go:embed standins.txt
var standInText string

var standIns = func() (list []standIn) {
	_, sections, _ := strings.Cut(standInText, "\n\n") // after the comment
	for section := range strings.SplitSeq(strings.TrimSpace(sections), "\n\n") {
		words := strings.Split(section, "\n")
		head := strings.Split(words[0], ", ")
		most, err := strconv.Atoi(head[2])
		if err != nil {
			panic(err) // the file is embedded
		}
		list = append(list, standIn{FailureKind(head[0]), most, head[1] == "titles", words[1:]})
	}
	return list
}()

// longestStandIn is the most bytes of a stand-in's text.
const longestStandIn = 4 << 10

// checkOwn returns an error for a page that is not the site's own. asked is the requested URL,
// found the URL after redirects.
func checkOwn(p Page, asked, found *url.URL) error {
	reason, sign := standInFor(p)
	if service := parkingService([]byte(found.String())); service != "" && parkingService([]byte(asked.String())) == "" {
		reason, sign = Parked, service
	}
	if reason == "" {
		return nil
	}
	return &Error{URL: redact(found), Reason: reason, Err: fmt.Errorf("it says %q", sign)}
}

// standInFor returns the reason and the words of a stand-in, or "".
func standInFor(p Page) (reason FailureKind, sign string) {
	switch {
	case p.ParkedBy != "":
		return Parked, p.ParkedBy
	case len(p.Text) > longestStandIn:
		return "", ""
	case hasPrefixFold([]byte(p.Title), "index of /"):
		return Parked, "index of /"
	}
	titles := titleParts(p.Title)
	titles[strings.TrimSpace(plain(p.Text))] = true
	text := plain(p.Title + " | " + p.Text)
	for _, kind := range standIns {
		if len(p.Text) > kind.most {
			continue
		}
		for _, words := range kind.words {
			if kind.isTitle && titles[words] || !kind.isTitle && strings.Contains(text, " "+words+" ") {
				return kind.reason, words
			}
		}
	}
	return "", ""
}

// titleParts returns a title and its parts, plain and trimmed.
func titleParts(title string) map[string]bool {
	parts := map[string]bool{strings.TrimSpace(plain(title)): true}
	for part := range strings.FieldsFuncSeq(strings.NewReplacer(" - ", "|", " – ", "|", " — ", "|").Replace(title), func(r rune) bool {
		return strings.ContainsRune("|:•·»!", r)
	}) {
		parts[strings.TrimSpace(plain(part))] = true
	}
	return parts
}

// plain returns the words of a text in lower case, each between single spaces.
func plain(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), words.IsSeparator), " ") + " "
}

// parkingServices are the hosts of domain parking services. Each includes its subdomains.
var parkingServices = map[string]bool{
	"sedoparking.com": true, "parkingcrew.net": true, "bodis.com": true, "parklogic.com": true, "above.com": true,
	"afternic.com": true, "dan.com": true, "hugedomains.com": true, "undeveloped.com": true, "domainmarket.com": true,
	"buydomains.com": true, "skenzo.com": true, "namedrive.com": true, "fabulous.com": true, "domainsponsor.com": true,
	"sawbrokers.com": true, "perfectdomain.com": true, "brandbucket.com": true, "parking.reg.ru": true, "searchhounds.com": true,
}

// parkingService returns the parking service of a URL's host, or "".
func parkingService(rawURL []byte) string {
	_, rest, ok := strings.Cut(string(rawURL[:min(len(rawURL), 256)]), "//")
	if !ok {
		return ""
	}
	if strings.HasPrefix(rest, "img1.wsimg.com/parking-lander/") {
		return "parking-lander"
	}
	end := strings.IndexAny(rest, "/:?#")
	if end >= 0 {
		rest = rest[:end]
	}
	for host := strings.ToLower(rest); host != ""; _, host, _ = strings.Cut(host, ".") {
		if parkingServices[host] {
			return host
		}
	}
	return ""
}
