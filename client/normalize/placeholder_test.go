package normalize

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

func TestPlaceholders(t *testing.T) {
	for _, text := range []string{
		`\N`, "NULL", "null", "Null", "-", "--", "N/A", "n/a", "N/a", "#N/A", "NaN", "nan", "-NaN", "None", "none", "NONE", "0",
		"NA", "na", "<NA>", "nil", "(null)", "[NULL]", "<null>", "undefined", "n.a.", "N.A", "(blank)", "#NA", "#N/A N/A", "-1.#IND", "1.#QNAN",
		"#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#ERROR!", "#GETTING_DATA", "#####",
		"---", "–", "—", "——", "−", ".", "..", "...", "…", "?", "???",
	} {
		for _, input := range []string{text, " " + text + "\t", "\u00a0" + text + "\r\n"} {
			for _, kind := range []client.Kind{client.Website, client.Product} {
				r, err := Normalizer{}.Request(kind, input, "")
				var invalid *InputError
				if !errors.As(err, &invalid) || invalid.Reason != errPlaceholder.Error() {
					t.Errorf("%s %q: got %q, %v", kind, input, r.Input, err)
				}
			}
			if r, err := (Normalizer{AskPlaceholders: true}).Request(client.Product, input, ""); err != nil || r.Input != strings.TrimSpace(text) {
				t.Errorf("%q with AskPlaceholders: got %q, %v", input, r.Input, err)
			}
		}
	}
	if r, err := (Normalizer{AskPlaceholders: true}).Request(client.Website, "n.a", ""); err != nil || r.Input != "https://n.a" {
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
		if r, err := (Normalizer{}).Request(client.Product, title, ""); err != nil || r.Input != title {
			t.Errorf("%q: got %q, %v", title, r.Input, err)
		}
	}
	for _, domain := range []string{"none.com", "null.org", "na.de", "0.com", "nan.fr", "--x.com"} {
		if r, err := (Normalizer{}).Request(client.Website, domain, ""); err != nil || r.Input != "https://"+domain {
			t.Errorf("%q: got %q, %v", domain, r.Input, err)
		}
	}
	for _, blank := range []string{"", " ", "\t", "\x00", "\u200b", "\ufeff \u00a0", "\u200e\u200f", "\u00ad\x1b"} {
		for _, kind := range []client.Kind{client.Product, client.Website} {
			if _, err := (Normalizer{}).Request(kind, blank, ""); err == nil || !strings.HasPrefix(err.Error(), errEmpty.Error()) {
				t.Errorf("%q: got %v", blank, err)
			}
		}
	}
}

// Programs that put a scheme or "www." before each value make a URL of a missing value.
func TestPlaceholderURLs(t *testing.T) {
	whole := []string{"https://%s", "http://%s/", "HTTPS://WWW.%s", "www.%s", "WWW.%s/", "//%s", " http://www.%s// ", "https:/%s"}
	hosts := []string{"null", "NULL", "None", "nan", "NA", "undefined", "nil", "0", "-", "--", "...", "(null)", "<null>", "n.a.", "\u2014"}
	inputs := []string{`https:\\null`, `http:\\www.null\`}
	for _, host := range hosts {
		for _, form := range append([]string{"https://%s/about?a=b", "http://%s:8080", "http://www.%s?a=b", "//%s#top", `https://%s\a`}, whole...) {
			inputs = append(inputs, fmt.Sprintf(form, host))
		}
	}
	for _, text := range []string{"N/A", "n/a", `\N`, "#N/A", "#REF!", "#DIV/0!", "???", "[null]"} { // these end a host, or begin no name
		for _, form := range whole {
			inputs = append(inputs, fmt.Sprintf(form, text))
		}
	}
	for _, input := range inputs {
		_, err := Normalizer{}.Request(client.Website, input, "")
		var invalid *InputError
		if !errors.As(err, &invalid) || invalid.Reason != errPlaceholder.Error() {
			t.Errorf("%q: got %v", input, err)
		}
	}
	if _, err := (Normalizer{}).Request(client.Product, "http://N/A", ""); err == nil {
		t.Error("a product http://N/A is asked")
	}
	for input, want := range map[string]string{"https://null": "https://null", "www.null": "https://www.null", "http://N/A": "http://n/A"} {
		if r, err := (Normalizer{AskPlaceholders: true}).Request(client.Website, input, ""); err != nil || r.Input != want {
			t.Errorf("%q with AskPlaceholders: got %q, %v", input, r.Input, err)
		}
	}
}

// Hosts that resemble placeholders are asked: real domains, and names of an intranet.
func TestNoPlaceholderURLs(t *testing.T) {
	for _, input := range []string{
		"https://null.com", "https://www.none.com", "http://na.org/NULL", "https://na.na", "http://localhost", "http://localhost:8080/null", "http://intranet/na",
		"https://nullable", "http://www", "https://www.www.null", "https://n/ab", "https://a.com/n/a", "https://www.0.com", "https://0x7f.com",
	} {
		if r, err := (Normalizer{}).Request(client.Website, input, ""); err != nil || r.Input != input {
			t.Errorf("%q: got %q, %v", input, r.Input, err)
		}
	}
}

// A dot at the end of a bare domain is not the dot that a domain has.
func TestBareDomainNeedsDot(t *testing.T) {
	for _, text := range []string{"NULL.", "none.", "example.", "example./a.html", "//null.", "localhost.:8080", "example。"} {
		if r, err := (Normalizer{}).Request(client.Website, text, ""); err == nil || !strings.HasPrefix(err.Error(), errNoDot.Error()) {
			t.Errorf("%q: got %q, %v", text, r.Input, err)
		}
	}
	for _, text := range []string{"example.com.", "https://localhost.", "[::1]"} {
		if _, err := (Normalizer{}).Request(client.Website, text, ""); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
