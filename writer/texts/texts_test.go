package texts

import (
	"strconv"
	"testing"
)

func TestCache(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "A > B", "ä"}
	for i := range 3 << bits { // so many that they must share slots
		texts = append(texts, "category "+strconv.Itoa(i))
	}
	var c Cache[string]
	misses := 0
	for range 3 {
		for _, text := range texts {
			value, met := c.Of(text)
			if !met {
				misses++
				*value = "of " + text
			}
			if *value != "of "+text {
				t.Fatalf("%q has %q", text, *value)
			}
			if _, met := c.Of(text); !met {
				t.Fatalf("%q was just met", text)
			}
		}
	}
	if misses < len(texts) {
		t.Errorf("%d misses for %d texts", misses, len(texts))
	}
}

// Few texts are worked out once.
func TestCacheKeeps(t *testing.T) {
	t.Parallel()
	var c Cache[int]
	for round := range 3 {
		if _, met := c.Of("News"); met != (round > 0) {
			t.Errorf("round %d: %v", round, met)
		}
	}
}
