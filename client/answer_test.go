package client

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestParseAnswerEntries(t *testing.T) {
	custom := CustomPrefix + "acme"
	for _, tt := range []struct {
		name, classification, body string
		want                       []Entry
	}{
		{"one entry", TaxonomyV3, `{"taxonomy_v3":[{"value":"A > B","confidence":0.87}]}`, []Entry{{Value: "A > B", Confidence: 0.87}}},
		{"order is the service's", TaxonomyV3, `{"taxonomy_v3":[{"value":"B","confidence":0.1},{"value":"A","confidence":0.9}]}`,
			[]Entry{{Value: "B", Confidence: 0.1}, {Value: "A", Confidence: 0.9}}},
		{"naics", NAICS, `{"naics":[{"title":"Software","value":"541511","confidence":0.8}]}`, []Entry{{Value: "541511", Title: "Software", Confidence: 0.8}}},
		{"code as a number", NAICS, `{"naics":[{"value":541511,"confidence":1}]}`, []Entry{{Value: "541511", Confidence: 1}}},
		{"empty list", TaxonomyV3, `{"taxonomy_v3":[]}`, []Entry{}},
		{"other members", TaxonomyV3, `{"request_id":"1","taxonomy_v3":[],"status":"ok"}`, []Entry{}},
		{"confidence out of 0 to 1", TaxonomyV3, `{"taxonomy_v3":[{"value":"A","confidence":87.5}]}`, []Entry{{Value: "A", Confidence: 87.5}}},
		{"confidence 0", TaxonomyV3, `{"taxonomy_v3":[{"value":"A","confidence":0}]}`, []Entry{{Value: "A"}}},
		{"custom under its name", custom, `{"x":1,"` + custom + `":[{"value":"A","confidence":1}]}`, []Entry{{Value: "A", Confidence: 1}}},
		{"custom beside other members", custom, `{"id":7,"tags":["a"],"categories":[{"value":"A","confidence":1}]}`, []Entry{{Value: "A", Confidence: 1}}},
		{"custom under another name", custom, `{"categories":[{"value":"A","confidence":1}]}`, []Entry{{Value: "A", Confidence: 1}}},
		{"spaces", TaxonomyV3, "\n { \"taxonomy_v3\" : [ ] } \n", []Entry{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer, err := ParseAnswer([]byte(tt.body), tt.classification)
			got := answer.Entries
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestParseAnswerWithoutConfidence(t *testing.T) {
	answer, err := ParseAnswer([]byte(`{"taxonomy_v3":[{"value":"A"}]}`), TaxonomyV3)
	got := answer.Entries
	if err != nil || len(got) != 1 || !math.IsNaN(got[0].Confidence) {
		t.Errorf("got %v, %v", got, err)
	}
}

// An entry whose confidence is not understood keeps its value.
func TestParseAnswerConfidence(t *testing.T) {
	for confidence, want := range map[string]float64{
		`0.83`: 0.83, `"0.83"`: 0.83, `" 0.83 "`: 0.83, `"1"`: 1, `"8.3e-1"`: 0.83, `"-2"`: -2,
		`null`: math.NaN(), `""`: math.NaN(), `"high"`: math.NaN(), `"83%"`: math.NaN(), `"0,83"`: math.NaN(), `"NaN"`: math.NaN(), `"inf"`: math.NaN(), `"0x1p-2"`: math.NaN(),
		`"1e999"`: math.NaN(), `1e999`: math.NaN(), `true`: math.NaN(), `[0.83]`: math.NaN(), `{"score":0.83}`: math.NaN(),
	} {
		t.Run(confidence, func(t *testing.T) {
			answer, err := ParseAnswer([]byte(`{"taxonomy_v3":[{"value":"A","confidence":`+confidence+`}]}`), TaxonomyV3)
			if err != nil || len(answer.Entries) != 1 || !equalEntries(answer.Entries[0], Entry{Value: "A", Confidence: want}) {
				t.Errorf("got %+v, %v; want %v", answer.Entries, err, want)
			}
		})
	}
}

func TestParseAnswerDropsEntriesWithoutValue(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		entries    int
		dropped    int
	}{
		{"none", `{"taxonomy_v3":[{"value":"A"}]}`, 1, 0},
		{"one of two", `{"taxonomy_v3":[{"confidence":1},{"value":"A","confidence":1}]}`, 1, 1},
		{"all", `{"taxonomy_v3":[{"confidence":1},{"value":""},{"value":null},null]}`, 0, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAnswer([]byte(tt.body), TaxonomyV3)
			if err != nil || got.Entries == nil || len(got.Entries) != tt.entries || got.Dropped != tt.dropped || string(got.Body) != tt.body {
				t.Errorf("got %+v, %v; want %d entries, %d dropped", got, err, tt.entries, tt.dropped)
			}
		})
	}
}

func TestParseAnswerMalformed(t *testing.T) {
	for _, tt := range []struct{ name, classification, body string }{
		{"nothing", TaxonomyV3, ``},
		{"HTML", TaxonomyV3, `<html><body>502 Bad Gateway</body></html>`},
		{"truncated", TaxonomyV3, `{"taxonomy_v3":[{"value":"A","conf`},
		{"null", TaxonomyV3, `null`},
		{"an array", TaxonomyV3, `[]`},
		{"no such member", TaxonomyV3, `{"naics":[]}`},
		{"only another member", ProductTaxonomy, `{"categories":[]}`},
		{"custom, two others", CustomPrefix + "acme", `{"a":[],"b":[]}`},
		{"member is null", TaxonomyV3, `{"taxonomy_v3":null}`},
		{"member is an object", TaxonomyV3, `{"taxonomy_v3":{}}`},
		{"entry is a string", TaxonomyV3, `{"taxonomy_v3":["A"]}`},
		{"value is an object", TaxonomyV3, `{"taxonomy_v3":[{"value":{},"confidence":1}]}`},
		{"trailing text", TaxonomyV3, `{"taxonomy_v3":[]} oops`},
		{"error member", TaxonomyV3, `{"error":"no such site"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := ParseAnswer([]byte(tt.body), tt.classification); err == nil {
				t.Errorf("got %v, want an error", got)
			}
		})
	}
}

func FuzzParseAnswer(f *testing.F) {
	f.Add(`{"taxonomy_v3":[{"value":"A > B","confidence":0.87}]}`, TaxonomyV3)
	f.Add(`{"naics":[{"title":"Software","value":541511,"confidence":1e400}]}`, NAICS)
	f.Add(`{"x":[{}]}`, CustomPrefix+"x")
	f.Fuzz(func(t *testing.T, body, classification string) {
		answer, err := ParseAnswer([]byte(body), classification)
		entries := answer.Entries
		if err == nil && entries == nil {
			t.Fatal("neither entries nor an error")
		}
		for _, e := range entries {
			if e.Value == "" || math.IsInf(e.Confidence, 0) {
				t.Fatalf("bad entry %+v", e)
			}
		}
	})
}

func TestParseUsage(t *testing.T) {
	for _, tt := range []struct {
		remaining  string // in JSON
		want       string
		requests   int64
		number     bool
		understood bool
	}{
		{`"1200"`, "1200", 1200, true, true},
		{`1200`, "1200", 1200, true, true},
		{`" 12 "`, " 12 ", 12, true, true},
		{`1500.5`, "1500.5", 1500, true, true},
		{`"1,500"`, "1,500", 1500, true, true},
		{`0`, "0", 0, true, true},
		{`"-0"`, "-0", 0, true, true},
		{`"0.0"`, "0.0", 0, true, true},
		{`1e300`, "1e300", 1 << 62, true, true},
		{`"18446744073709551615"`, "18446744073709551615", 1 << 62, true, true},
		{`"unlimited"`, "unlimited", 0, false, true},
		{`"Unlimited "`, "Unlimited ", 0, false, true},
		{`"∞"`, "∞", 0, false, true},
		{`"Infinity"`, "Infinity", 0, false, true},
		{`"-1"`, "-1", 0, false, true},
		{`-1`, "-1", 0, false, true},
		{`"-3"`, "-3", 0, false, false},
		{`-0.5`, "-0.5", 0, false, false},
		{`"1e999"`, "1e999", 0, false, false},
		{`"nan"`, "nan", 0, false, false},
		{`""`, "", 0, false, false},
		{`"plenty"`, "plenty", 0, false, false},
		{`"12 of 500"`, "12 of 500", 0, false, false},
		{`null`, "null", 0, false, false},
		{`true`, "true", 0, false, false},
	} {
		t.Run(tt.remaining, func(t *testing.T) {
			got, err := parseUsage([]byte(`{"plan":"pro","remaining":` + tt.remaining + `}`))
			if err != nil || got != (Usage{Plan: "pro", Remaining: tt.want}) {
				t.Errorf("got %v, %v", got, err)
			}
			if n, ok := got.Requests(); n != tt.requests || ok != tt.number {
				t.Errorf("got %d requests, %t", n, ok)
			}
			if got.Understood() != tt.understood {
				t.Errorf("understood: %t", got.Understood())
			}
		})
	}
	for _, body := range []string{``, `<html>`, `{}`, `{"plan":"pro"}`, `{"plan":"pro","remaining":[]}`, `{"remaining":{"daily":5}}`} {
		if got, err := parseUsage([]byte(body)); err == nil {
			t.Errorf("%s: got %v, want an error", body, got)
		} else if strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v", body, err)
		}
	}
}
