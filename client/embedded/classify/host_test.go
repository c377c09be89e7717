package classify

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplitHost(t *testing.T) {
	tests := map[string][]string{
		"bestcarparts.com":          {"best", "car", "parts"},
		"www.bestcarparts.co.uk":    {"best", "car", "parts"},
		"WWW2.Grand-Valley-Bank.de": {"grand", "valley", "bank"},
		"casino24online.net:8080":   {"casino", "24", "online"},
		"acme.travel":               {"acme", "travel"},
		"acme.online":               {"acme"},
		"xyzzyq.com":                {"xyzzyq"},
		"xyzzyqbank.com":            {"xyzzyq", "bank"},
		"mygarden.wordpress.com":    {"my", "garden"},
		"shop.example.com":          {"shop", "example"},
		"dating.com":                {"dating"},
		"localhost":                 {"local", "host"},
		"127.0.0.1":                 {"127", "0", "0"},
		"bücherladen.de":            {"bücherladen"},
		"":                          nil,
		"...":                       nil,
	}
	for host, want := range tests {
		if got := SplitHost(host); !slices.Equal(got, want) {
			t.Errorf("SplitHost(%q) = %q, want %q", host, got, want)
		}
	}
}

func FuzzSplitHost(f *testing.F) {
	f.Add("www.bestcarparts.co.uk")
	f.Add("xn--bcher-kva.example:80")
	f.Add("a_b-c..d" + strings.Repeat("z", 70))
	f.Add("é1é.é")
	f.Fuzz(func(t *testing.T, host string) {
		lower := strings.ToLower(host)
		for _, w := range SplitHost(host) {
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
	SplitHost("warm.up")
	for b.Loop() {
		SplitHost("www.bestcarparts.co.uk")
	}
}
