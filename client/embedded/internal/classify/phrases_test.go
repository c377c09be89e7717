package classify

import (
	"slices"
	"testing"
)

func TestNamePhrases(t *testing.T) {
	tests := []struct {
		name string
		want []string // a bare one in brackets
	}{
		{"Sofas", []string{"Sofas"}},
		{"Coats & Jackets", []string{"Coats & Jackets", "Coats", "Jackets"}},
		{"Action/Adventure", []string{"Action/Adventure", "Action", "Adventure"}},
		{"Handbags, Wallets & Cases", []string{"Handbags, Wallets & Cases", "Handbags", "Wallets", "Cases"}},
		{"Baby & Toddler Clothing", []string{"Baby & Toddler Clothing", "Baby Clothing", "Toddler Clothing"}},
		{"Vehicle Parts & Accessories", []string{"Vehicle Parts & Accessories", "Vehicle Parts", "Vehicle Accessories", "[Accessories]"}},
		{"Oilseed (except Soybean) Farming", []string{"Oilseed Farming"}},
		{"Hand-Held Tools", []string{"Hand-Held Tools"}},
	}
	for _, tt := range tests {
		var got []string
		for _, w := range namePhrases(tt.name) {
			if w.bare {
				w.text = "[" + w.text + "]"
			}
			got = append(got, w.text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("namePhrases(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}
