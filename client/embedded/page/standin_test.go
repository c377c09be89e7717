package page

import (
	"net/http"
	"strings"
	"testing"
)

func TestStandIns(t *testing.T) {
	long := strings.Repeat("Boots and shoes for every trail, made to last. ", 200)
	tests := []struct {
		name, title, text string
		want              FailureKind
	}{
		{"for sale", "northmoor.example", "This domain is for sale! Buy northmoor.example today.", Parked},
		{"for sale, in the title", "Northmoor.example - Domain For Sale", "Make an offer.", Parked},
		{"for sale in German", "northmoor.example", "Diese Domain steht zum Verkauf.", Parked},
		{"for sale in Russian", "northmoor.example", "Домен продаётся", Parked},
		{"parked", "northmoor.example", "This Domain is parked free, courtesy of a registrar.", Parked},
		{"expired", "northmoor.example", "This domain name has expired. If you own it, renew it.", Parked},
		{"suspended", "Account Suspended", "Contact your hosting provider for more information.", Parked},
		{"Apache", "Apache2 Ubuntu Default Page: It works", "It works! This is the default welcome page.", Parked},
		{"Apache, older", "", "It works!", Parked},
		{"nginx", "Welcome to nginx!", "If you see this page, the nginx web server is successfully installed.", Parked},
		{"IIS", "IIS Windows Server", "", Parked},
		{"a listing", "Index of /", "Name Last modified Size Description cgi-bin/", Parked},
		{"a listing of a folder", "Index of /shop/old", "Parent Directory a.zip", Parked},
		{"under construction", "Northmoor", "Our website is under construction.", Parked},
		{"coming soon", "Coming Soon", "", Parked},
		{"coming soon, with a name", "Northmoor | Coming Soon", "Leave your address to hear of us.", Parked},
		{"maintenance", "Site under maintenance", "Back on Monday.", Parked},
		{"404", "404 Not Found", "nginx/1.24.0", ErrorPage},
		{"404 with a name", "Page not found – Northmoor Shoes", "Oops! That page is gone.", ErrorPage},
		{"404 in the text alone", "", "404 Not Found", ErrorPage},
		{"403", "403 Forbidden", "You don't have permission to access this resource.", ErrorPage},
		{"access denied", "Access Denied", "Reference #18.2f", ErrorPage},
		{"a database", "Northmoor", "Error establishing a database connection", ErrorPage},
		{"a gateway", "502 Bad Gateway", "", ErrorPage},
		{"a moment", "Just a moment...", "Enable JavaScript and cookies to continue", Challenge},
		{"a moment, by its text", "northmoor.example", "Enable JavaScript and cookies to continue", Challenge},
		{"attention", "Attention Required! | Cloudflare", "Sorry, you have been blocked", Challenge},
		{"a browser check", "", "Checking your browser before accessing northmoor.example.", Challenge},
		{"a captcha", "Northmoor", "Please complete the captcha to go on.", Challenge},

		{"a shop", "Northmoor Shoes", "Boots and shoes for every trail.", ""},
		{"a shop that speaks of errors", "Northmoor Shoes", long + "404 Not Found? Access denied? Just a moment...", ""},
		{"a shop titled like an error", "Error 404 Records", long, ""},
		{"a cinema", "Coming Soon | Harbour Cinema", long, ""},
		{"a cinema's short page", "Harbour Cinema", "Now showing: The Harbour. Coming soon: The Trail, and many more films for young and old, every Friday and Saturday night at eight and at ten in all three rooms.", ""},
		{"a builder", "Northmoor Construction", "We build houses; see those under construction now. " + long[:300], ""},
		{"a domain broker", "Buy and sell domain names", long + "This domain is for sale", ""},
		{"an article on captchas", "How a captcha works", "Why sites ask whether you are a person.", ""},
		{"news", "Coffee", "Science says why cold brew tastes different. Learn how it works.", ""},
		{"an index", "Index of economic freedom", "Rankings of countries.", ""},
		{"a band", "404", long, ""},
		{"forbidden love", "Forbidden Love: a novel", "A novel of the harbour.", ""},
		{"words that touch", "Domain", "thisdomain is for salesmen", ""},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, sign := standInFor(Page{Title: tt.title, Text: tt.text}); got != tt.want {
				t.Errorf("reason %q by %q, want %q", got, sign, tt.want)
			}
		})
	}
}

// Every entry of the table can match a page.
func TestStandInTable(t *testing.T) {
	for _, kind := range standIns {
		if kind.most > longestStandIn {
			t.Errorf("stand-ins of %d bytes are never looked for", kind.most)
		}
		for _, entry := range kind.words {
			if plain(entry) != " "+entry+" " {
				t.Errorf("%q is not plain: %q", entry, plain(entry))
			}
		}
	}
}

func TestParkingServices(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://sedoparking.com/search", "sedoparking.com"},
		{"//www.ParkingCrew.net:443?x", "parkingcrew.net"},
		{"https://img1.wsimg.com/parking-lander/static/js/main.js", "parking-lander"},
		{"https://img1.wsimg.com/other.js", ""},
		{"https://notdan.com/", ""},
		{"https://dan.com.example/", ""},
		{"/dan.com/", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := parkingService([]byte(tt.url)); got != tt.want {
			t.Errorf("parkingService(%q) = %q, want %q", tt.url, got, tt.want)
		}
	}
}

func TestFetchTellsStandIns(t *testing.T) {
	tests := []struct {
		name, url string
		want      FailureKind
	}{
		{"a frame", "https://framed.example/", Parked},
		{"a script", "https://scripted.example/", Parked},
		{"a redirect", "https://sold.example/", Parked},
		{"a service's own site", "https://www.hugedomains.com/", ""},
		{"an error", "https://broken.example/", ErrorPage},
		{"a challenge", "https://guarded.example/", Challenge},
	}
	bodies := map[string]string{
		"framed.example":      "<frameset><frame src='https://www.sedoparking.com/framed.example'></frameset>",
		"scripted.example":    "<title>Shoes</title><script src=//d.parkingcrew.net/x.js></script><p>Shoes Boots",
		"www.hugedomains.com": "<title>Names for your business</title>",
		"broken.example":      "<title>404 Not Found</title>",
		"guarded.example":     "<title>Just a moment...</title><noscript>Enable JavaScript and cookies to continue</noscript>",
		"unguarded.example":   "<title>Shoes</title>",
	}
	f := only(Options{}, func(req *http.Request) *http.Response {
		if req.URL.Host == "sold.example" {
			return respond(req, 302, "", "Location", "https://www.hugedomains.com/profile?d=sold.example")
		}
		return respond(req, 200, bodies[req.URL.Host], "Content-Type", mediaHTML)
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := f.Fetch(t.Context(), tt.url)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "":
				if wantReason(t, err, tt.want); page.Title != "" {
					t.Errorf("title %q beside the error", page.Title)
				}
			}
		})
	}
}
