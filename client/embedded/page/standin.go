package page

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// A standIn is a kind of stand-in. Stand-ins are short: on longer pages, the same words may be about the subject.
type standIn struct {
	reason FailureKind
	most   int // bytes of text at most

	// titles match a page's title, a part of it between separators, or the whole text. phrases match a part of the title or the
	// text. Both are in lower case, without punctuation.
	titles, phrases []string
}

var standIns = []standIn{
	{
		reason: Parked, most: 4 << 10,
		phrases: []string{
			"domain is for sale", "domain name is for sale", "domain may be for sale", "domain for sale",
			"buy this domain", "make an offer on this domain", "inquire about this domain",
			"domain is parked", "domain is parked free", "parked domain", "this web page is parked", "domain parking page",
			"domain has expired", "domain name has expired", "domain has recently expired",
			"domain has been registered", "domain was recently registered", "domain name is registered",
			"diese domain steht zum verkauf", "domain steht zum verkauf", "domain ist zu verkaufen",
			"ce domaine est à vendre", "nom de domaine est à vendre", "este dominio está en venta", "dominio en venta",
			"este domínio está à venda", "questo dominio è in vendita", "dit domein is te koop", "deze domeinnaam is te koop",
			"domena jest na sprzedaż", "domena na sprzedaż", "домен продается", "домен продаётся",
			"account has been suspended", "site has been suspended", "website has been suspended",
			"future home of something quite cool", "this site is not published", "site isn t published",
			"apache2 ubuntu default page", "apache2 debian default page", "apache is functioning normally",
			"test page for the apache http server", "apache http server test page", "if you see this page the nginx web server",
			"if you can read this page it means that the web server", "welcome to caddy", "your openresty installation",
			"web server s default page", "default web site page", "plesk default page", "default page of this server",
			"page is used to test the proper operation of",
		},
	},
	{
		reason: Parked, most: 1 << 10,
		titles: []string{
			"welcome to nginx", "iis windows server", "iis windows", "iis7", "apache2 default page", "it works", "default page",
			"domain default page", "site not found", "account suspended", "parked domain", "domain parked", "under construction",
			"site under construction", "website under construction", "page under construction", "coming soon",
			"website coming soon", "site coming soon", "opening soon", "launching soon", "maintenance mode", "under maintenance",
			"site under maintenance", "we ll be back soon",
		},
	},
	{
		reason: Parked, most: 150,
		phrases: []string{
			"under construction", "website is coming soon", "site is coming soon", "coming soon", "launching soon",
			"under maintenance", "im aufbau", "en construction", "en construcción", "em construção", "in costruzione",
			"в разработке", "сайт находится в разработке",
		},
	},
	{
		reason: ErrorPage, most: 1 << 10,
		titles: []string{
			"404", "403", "500", "502", "503", "error", "error 404", "404 error", "not found", "404 not found", "page not found",
			"404 page not found", "error 404 not found", "403 forbidden", "forbidden", "error 403", "access denied",
			"401 unauthorized", "unauthorized", "400 bad request", "bad request", "410 gone", "500 internal server error",
			"internal server error", "server error", "502 bad gateway", "bad gateway", "503 service unavailable",
			"503 service temporarily unavailable", "service unavailable", "504 gateway time out", "gateway timeout",
			"runtime error", "database error", "web server is down", "404 file or directory not found",
		},
	},
	{
		reason: ErrorPage, most: 300,
		phrases: []string{
			"404 not found", "403 forbidden", "page not found", "access denied", "internal server error", "bad gateway",
			"service unavailable", "service temporarily unavailable", "error establishing a database connection",
			"you don t have permission to access", "the requested url was not found", "no input file specified", "invalid hostname",
		},
	},
	{
		reason: Challenge, most: 2 << 10,
		titles: []string{
			"just a moment", "one moment please", "attention required", "please wait", "security check", "checking your browser",
			"are you a robot", "are you human", "robot check", "human verification", "verify you are human", "bot verification",
			"ddos guard", "captcha", "recaptcha", "pardon our interruption", "client challenge", "vercel security checkpoint",
		},
		phrases: []string{
			"enable javascript and cookies to continue", "checking your browser before accessing", "checking if the site connection is secure",
			"verify you are human", "verify that you are human", "verifying you are human", "prove you are human", "are you a robot",
			"complete the captcha", "complete the security check", "solve the captcha", "unusual traffic from your",
			"needs to review the security of your connection", "sorry you have been blocked", "please enable cookies and reload",
			"request unsuccessful incapsula incident id",
		},
	},
}

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
		for _, title := range kind.titles {
			if titles[title] {
				return kind.reason, title
			}
		}
		for _, phrase := range kind.phrases {
			if strings.Contains(text, " "+phrase+" ") {
				return kind.reason, phrase
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
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	space := true
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			b.WriteRune(unicode.ToLower(r))
			space = false
		} else if !space {
			b.WriteByte(' ')
			space = true
		}
	}
	if !space {
		b.WriteByte(' ')
	}
	return b.String()
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
