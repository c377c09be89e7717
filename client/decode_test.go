package client

import (
	"math"
	"slices"
	"testing"
)

// The decoder may reject any body. The entries that it decodes are those of encoding/json.
func TestDecodeAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		understood bool
	}{
		{"one entry", `{"taxonomy_v3":[{"value":"A > B","confidence":0.87}]}`, true},
		{"title, other members, spaces", ` {"id" : [1, {"a":null}, "x"], "taxonomy_v3" : [ {"title":"T", "value":"541511", "tier":-1.5e3, "confidence":1} , {"value":"é"} ] } `, true},
		{"many digits", `{"taxonomy_v3":[{"value":"A","confidence":0.123456789012345},{"value":"B","confidence":0.1234567890123456},{"value":"C","confidence":0.12345678901234567}]}`, true},
		{"fraction with an exponent", `{"taxonomy_v3":[{"value":"A","confidence":0.5e-3},{"value":"B","confidence":0.5E1}]}`, true},
		{"bare fraction", `{"taxonomy_v3":[{"value":"A","confidence":0.}]}`, false},
		{"fraction cut off", `{"taxonomy_v3":[{"value":"A","confidence":0.5`, false},
		{"none", `{"taxonomy_v3":[]}`, true},
		{"entries without value", `{"taxonomy_v3":[{},{"value":""},{"title":"x"}]}`, true},
		{"member twice", `{"taxonomy_v3":[],"taxonomy_v3":[{"value":"B"}]}`, false},
		{"value twice", `{"taxonomy_v3":[{"value":"A","value":"B"}]}`, false},
		{"folded name", `{"taxonomy_v3":[{"Value":"A"}]}`, false},
		{"name that folds outside ASCII", `{"taxonomy_v3":[{"confidence":1,"title":"` + "x" + `","ſ":1,"value":"A"}]}`, true},
		{"escape", `{"taxonomy_v3":[{"value":"A \u003e B"}]}`, false},
		{"control character", "{\"taxonomy_v3\":[{\"value\":\"A\tB\"}]}", false},
		{"invalid UTF-8", "{\"taxonomy_v3\":[{\"value\":\"A\xff\"}]}", false},
		{"number for a value", `{"taxonomy_v3":[{"value":541511}]}`, false},
		{"null for a value", `{"taxonomy_v3":[{"value":null}]}`, false},
		{"byte order mark", "\ufeff" + `{"taxonomy_v3":[]}`, false},
		{"text for a confidence", `{"taxonomy_v3":[{"value":"A","confidence":"1"}]}`, false},
		{"number out of range", `{"taxonomy_v3":[{"value":"A","confidence":1e999}]}`, false},
		{"leading zero", `{"taxonomy_v3":[{"value":"A","confidence":01}]}`, false},
		{"bare point", `{"taxonomy_v3":[{"value":"A","confidence":1.}]}`, false},
		{"bare exponent", `{"taxonomy_v3":[{"value":"A","confidence":1e}]}`, false},
		{"plus sign", `{"taxonomy_v3":[{"value":"A","confidence":+1}]}`, false},
		{"two numbers", `{"taxonomy_v3":[{"value":"A","confidence":1-2}]}`, false},
		{"word for a confidence", `{"taxonomy_v3":[{"value":"A","confidence":null}]}`, false},
		{"words in other members", `{"taxonomy_v3":[{"value":"A","a":true,"b":false,"c":null}]}`, true},
		{"unknown word in another member", `{"taxonomy_v3":[{"value":"A","a":nullx}]}`, false},
		{"bare sign in another member", `{"taxonomy_v3":[{"value":"A","rank":-}]}`, false},
		{"null entry", `{"taxonomy_v3":[null]}`, false},
		{"comma too many", `{"taxonomy_v3":[{"value":"A"},]}`, false},
		{"text behind", `{"taxonomy_v3":[]}x`, false},
		{"truncated", `{"taxonomy_v3":[{"value":"A`, false},
		{"deep", `{"x":[[[[[[[[[1]]]]]]]]],"taxonomy_v3":[]}`, false},
		{"another member only", `{"naics":[]}`, false},
		{"not an object", `[]`, false},
		{"empty", ``, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if understood := compareDecoders(t, []byte(tt.body), TaxonomyV3); understood != tt.understood {
				t.Errorf("understood: %v, want %v", understood, tt.understood)
			}
		})
	}
}

// The strings of an answer do not change with the buffer of its body.
func TestDecodeAnswerOverwrittenBody(t *testing.T) {
	body := []byte(`{"taxonomy_v3":[{"value":"first"}]}`)
	got, _, _ := decodeAnswer(body, TaxonomyV3)
	copy(body, `{"taxonomy_v3":[{"value":"other"}]}`)
	if got[0].Value != "first" {
		t.Errorf("got %q: the answer points into the body", got[0].Value)
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add([]byte(`{"id":1.5,"taxonomy_v3":[{"value":"A > B","title":"é","confidence":0.87,"x":[true,{"y":"z"}]},{"value":""}]}`))
	f.Add([]byte(`{"taxonomy_v3":[{"ſ":1,"VALUE":"A","confidence":-0e-0}]}`))
	f.Fuzz(func(t *testing.T, body []byte) { compareDecoders(t, body, TaxonomyV3) })
}

// compareDecoders reports whether the decoder understood the body. The result must be that of encoding/json.
func compareDecoders(t *testing.T, body []byte, classification string) (understood bool) {
	t.Helper()
	entries, dropped, ok := decodeAnswer(body, classification)
	if !ok {
		return false
	}
	want, err := parseAnyAnswer(body, classification)
	if err != nil || dropped != want.Dropped || !slices.EqualFunc(entries, want.Entries, equalEntries) {
		t.Errorf("%q: got %+v, %d dropped; encoding/json reads %+v, %d dropped, %v", body, entries, dropped, want.Entries, want.Dropped, err)
	}
	return true
}

func equalEntries(a, b Entry) bool {
	return a.Value == b.Value && a.Title == b.Title &&
		(a.Confidence == b.Confidence || math.IsNaN(a.Confidence) && math.IsNaN(b.Confidence))
}

func BenchmarkParseAnswer(b *testing.B) {
	body := []byte(`{"taxonomy_v3":[{"value":"Technology & Computing > Computing > Internet","confidence":0.9312},{"value":"Business and Finance > Industries","confidence":0.7012},{"value":"News and Politics","confidence":0.4}]}`)
	b.Run("decoder", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseAnswer(body, TaxonomyV3); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := parseAnyAnswer(body, TaxonomyV3); err != nil {
				b.Fatal(err)
			}
		}
	})
}
