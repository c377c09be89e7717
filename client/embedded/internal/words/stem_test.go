package words

import (
	"bytes"
	"strings"
	"testing"
)

func TestStem(t *testing.T) {
	tests := map[string]string{
		"shirts": "shirt", "dresses": "dress", "boxes": "box", "watches": "watch", "dishes": "dish", "shoes": "shoe",
		"houses": "house", "batteries": "battery", "hoodies": "hoody", "hoodie": "hoody", "movie": "movy", "pies": "pie",
		"potatoes": "potato", "buzzes": "buzz", "earrings": "earring", "glasses": "glass", "knives": "knive",
		// not plurals
		"dress": "dress", "bus": "bus", "tennis": "tennis", "gas": "gas", "as": "as", "s": "s", "": "", "pie": "pie",
	}
	for word, want := range tests {
		if got := string(Stem([]byte(word))); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzStem(f *testing.F) {
	for w := range strings.FieldsSeq("hoodies es ies sses ves ie s zzes oes") {
		f.Add([]byte(w))
	}
	f.Fuzz(func(t *testing.T, word []byte) {
		once := bytes.Clone(Stem(bytes.Clone(word)))
		if len(once) > len(word) {
			t.Errorf("Stem(%q) = %q", word, once)
		}
	})
}
