package words

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func readAll(text string) []string {
	var r Reader
	var words []string
	for r.Reset(text); r.Next(); {
		words = append(words, string(r.Word))
	}
	return words
}

func TestReader(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"case and punctuation", "Hello, WORLD! (again)", "hello world again"},
		{"accents", "Crème brûlée, Łódź, Ñandú", "creme brulee lodz nandu"},
		{"possessive", "Women's and kids’ children`s o'neill", "women and kids children oneill"},
		{"single letter with hyphen", "T-Shirt e-book x-ray", "tshirt ebook xray"},
		{"compound with hyphen", "on-the-go 4-pack", "on the go 4 pack"},
		{"digits", "iPhone 15 256GB 3.5mm", "iphone 15 256gb 3 5mm"},
		{"other scripts", "Кофе 咖啡 قهوة", "кофе 咖啡 قهوة"},
		{"combining mark", "cafe\u0301 noir", "cafe\u0301 noir"},
		{"invalid UTF-8", "ab\xffcd", "ab cd"},
		{"long word is cut", strings.Repeat("x", 100) + " end", strings.Repeat("x", MaxWord) + " end"},
		{"only punctuation", " -- '' ...", ""},
		{"apostrophe alone", "' s", "s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(readAll(tt.text), " "); got != tt.want {
				t.Errorf("words of %q = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestReaderGap(t *testing.T) {
	var r Reader
	var got []string
	for r.Reset("one two, three - four-five (six) 'seven'"); r.Next(); {
		gap := " "
		if r.Gap != 0 {
			gap = string(r.Gap)
		}
		got = append(got, gap+string(r.Word))
	}
	want := []string{" one", " two", ",three", "-four", " five", "(six", ")seven"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The table of base letters agrees with Unicode's decomposition wherever that
// has an opinion.
func TestFoldedLatin(t *testing.T) {
	for c := rune(0xC0); c < 0x180; c++ {
		base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(c)))
		want := unicode.ToLower(base)
		if got := fold(c); want < utf8.RuneSelf && got != want {
			t.Errorf("fold(%q) = %q, want %q", c, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("Women's T-Shirt (black, XL) - 2 pcs")
	f.Add("a-a-a '''s \xff\xfe é")
	f.Add("‘’'`-([{")
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range readAll(text) {
			if w == "" || len(w) > MaxWord+utf8.UTFMax || !utf8.ValidString(w) {
				t.Errorf("word %q of %q", w, text)
			}
			for _, c := range w {
				if !isWordRune(c) || c >= 'A' && c <= 'Z' {
					t.Errorf("%q in word %q of %q", c, w, text)
				}
			}
		}
	})
}
