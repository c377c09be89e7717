package client

import (
	"errors"
	"strings"
	"testing"
)

func TestPlaceholders(t *testing.T) {
	for _, text := range []string{
		`\N`, "NULL", "null", "Null", "-", "--", "N/A", "n/a", "N/a", "#N/A", "NaN", "nan", "-NaN", "None", "none", "NONE", "0",
		"NA", "na", "<NA>", "nil", "(null)", "[NULL]", "<null>", "undefined", "n.a.", "N.A", "(blank)", "#NA", "#N/A N/A", "-1.#IND", "1.#QNAN",
		"#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#ERROR!", "#GETTING_DATA", "#####",
		"---", "–", "—", "——", "−", ".", "..", "...", "…", "?", "???",
	} {
		for _, input := range []string{text, " " + text + "\t", "\u00a0" + text + "\r\n"} {
			for _, kind := range []Kind{Website, Product} {
				r, err := Normalizer{}.Request(kind, input, "")
				var invalid *InputError
				if !errors.As(err, &invalid) || invalid.Reason != errPlaceholder.Error() {
					t.Errorf("%s %q: got %q, %v", kind, input, r.Input, err)
				}
			}
			if r, err := (Normalizer{AskPlaceholders: true}).Request(Product, input, ""); err != nil || r.Input != strings.TrimSpace(text) {
				t.Errorf("%q with AskPlaceholders: got %q, %v", input, r.Input, err)
			}
		}
	}
	if r, err := (Normalizer{AskPlaceholders: true}).Request(Website, "n.a", ""); err != nil || r.Input != "https://n.a" {
		t.Errorf("got %q, %v", r.Input, err)
	}
	for text := range placeholders {
		if len(text) > longestPlaceholder || !isPlaceholder(strings.ToUpper(text)) || text != strings.ToLower(text) {
			t.Errorf("%q cannot be found", text)
		}
	}
}

// Titles and domains that resemble placeholders are asked.
func TestNoPlaceholders(t *testing.T) {
	for _, title := range []string{
		"Nana", "NaN book", "Null pen", "None of us", "Nil by mouth", "007", "00", "1", "0.5 l", "A", "-5 °C bag", "...And Justice for All", "#1", "N/A-22",
		"?!", "TBD", "unknown", "Missing", "Test", "日本", "\u00e9",
	} {
		if r, err := (Normalizer{}).Request(Product, title, ""); err != nil || r.Input != title {
			t.Errorf("%q: got %q, %v", title, r.Input, err)
		}
	}
	for _, domain := range []string{"none.com", "null.org", "na.de", "0.com", "nan.fr", "--x.com"} {
		if r, err := (Normalizer{}).Request(Website, domain, ""); err != nil || r.Input != "https://"+domain {
			t.Errorf("%q: got %q, %v", domain, r.Input, err)
		}
	}
	for _, blank := range []string{"", " ", "\t"} {
		if _, err := (Normalizer{}).Request(Product, blank, ""); !strings.HasPrefix(err.Error(), errEmpty.Error()) {
			t.Errorf("%q: got %v", blank, err)
		}
	}
}

// A dot at the end of a bare domain is not the dot that a domain has.
func TestBareDomainNeedsDot(t *testing.T) {
	for _, text := range []string{"NULL.", "none.", "example.", "example./a.html", "//null.", "localhost.:8080", "example。"} {
		if r, err := (Normalizer{}).Request(Website, text, ""); err == nil || !strings.HasPrefix(err.Error(), errNoDot.Error()) {
			t.Errorf("%q: got %q, %v", text, r.Input, err)
		}
	}
	for _, text := range []string{"example.com.", "https://localhost.", "[::1]"} {
		if _, err := (Normalizer{}).Request(Website, text, ""); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
