package classify

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplitHost(t *testing.T) {
	tests := map[string][]string{ // a domain that says something comes last, after "."
		"bestcarparts.com":          {"best", "car", "parts"},
		"www.bestcarparts.co.uk":    {"best", "car", "parts"},
		"WWW2.Grand-Valley-Bank.de": {"grand", "valley", "bank"},
		"casino24online.net:8080":   {"casino", "24", "online"},
		"acme.travel":               {"acme", ".", "travel"},
		"acme.museum":               {"acme", ".", "museum"},
		"acme.edu":                  {"acme", ".", "university"},
		"acme.edu.au":               {"acme", ".", "university"},
		"acme.gov.uk":               {"acme", ".", "government"},
		"acme.online":               {"acme"},
		"acme.shop":                 {"acme"},
		"xyzzyq.com":                {"xyzzyq"},
		"xyzzyqbank.com":            {"xyzzyq", "bank"},
		"mygarden.wordpress.com":    {"my", "garden"},
		"shop.xyzzyq.com":           {"xyzzyq"},
		"m.xyzzyq.com":              {"xyzzyq"},
		"shop.com":                  {"shop"},
		"dating.com":                {"dating"},
		"localhost":                 {"local", "host"},
		"127.0.0.1":                 {"127", "0", "0"},
		"bücherladen.de":            {"bücherladen"},
		"xn--bcherladen-9db.de":     {"bücherladen"},
		"xn--hotel-bcher-zhb.de":    {"hotel", "bücher"},
		"xn--ls8h.la":               {"💩"},
		"xn--zzzzzzzzzzz.com":       nil, // no Punycode: junk
		"":                          nil,
		"...":                       nil,
	}
	e := engines()["iab"]
	for host, want := range tests {
		got, domain := e.SplitHost(host)
		if domain != "" {
			got = append(got, ".", domain)
		}
		if !slices.Equal(got, want) {
			t.Errorf("SplitHost(%q) = %q, want %q", host, got, want)
		}
	}
}

// The host contains the words in their order.
func FuzzSplitHost(f *testing.F) {
	f.Add("www.bestcarparts.co.uk")
	f.Add("xn--bcher-kva.example:80")
	f.Add("a_b-c..d" + strings.Repeat("z", 70))
	f.Add("é1é.é")
	e := engines()["iab"]
	f.Fuzz(func(t *testing.T, host string) {
		lower := strings.ToLower(host)
		words, _ := e.SplitHost(host)
		if strings.Contains(lower, "xn--") {
			return
		}
		for _, w := range words {
			i := strings.Index(lower, w)
			if w == "" || i < 0 {
				t.Fatalf("word %q is not in %q", w, host)
			}
			if utf8.ValidString(lower) && !utf8.ValidString(w) {
				t.Errorf("word %q of %q is not UTF-8", w, host)
			}
			lower = lower[i+len(w):]
		}
	})
}

func BenchmarkSplitHost(b *testing.B) {
	e := engines()["iab"]
	for b.Loop() {
		e.SplitHost("www.bestcarparts.co.uk")
	}
}
