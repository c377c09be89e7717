package probe

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

func TestProfileRoundTrip(t *testing.T) {
	charges := true
	want := Profile{
		Format: profileFormat, BaseURL: "https://api.example.com/root", WebsiteParam: "website", ProductParam: "title", ParamIn: client.InJSON,
		SuccessStatus: 200, BadKeyStatus: 401, CustomMember: "categories", RateLimit: 12.5, RateHeaders: []string{"RateLimit"},
		Charges: &charges, Price: "0.002", Currency: "EUR", Assumed: []string{"a < b"}, ProbedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseProfile(text)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseProfileRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", ``, "not a profile"},
		{"not JSON", `base_url: https://api.example.com`, "not a profile"},
		{"an array", `[]`, "not a profile"},
		{"null", `null`, "not a profile"},
		{"foreign", `{"base_url":"https://api.example.com"}`, "not a profile"},
		{"two", `{"bulkcat_profile":1,"base_url":"https://api.example.com"} {}`, "not a profile"},
		{"of a later bulkcat", `{"bulkcat_profile":2}`, "format 2"},
		{"misspelled member", `{"bulkcat_profile":1,"base_url":"https://api.example.com","website_parm":"x"}`, "website_parm"},
		{"wrong type", `{"bulkcat_profile":1,"base_url":7}`, "base_url"},
		{"no base URL", `{"bulkcat_profile":1}`, "base_url"},
		{"base URL with a password", `{"bulkcat_profile":1,"base_url":"https://user:secret@api.example.com"}`, "base_url"},
		{"unknown place", `{"bulkcat_profile":1,"base_url":"https://api.example.com","param_in":"path"}`, "param_in"},
		{"price in words", `{"bulkcat_profile":1,"base_url":"https://api.example.com","price":"cheap"}`, "cheap"},
		{"negative rate", `{"bulkcat_profile":1,"base_url":"https://api.example.com","rate_limit":-1}`, "rate_limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseProfile([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzParseProfile(f *testing.F) {
	f.Add(`{"bulkcat_profile":1,"base_url":"https://api.example.com","param_in":"json","charges":null,"probed_at":"2026-03-01T12:00:00Z"}`)
	f.Add(`{"bulkcat_profile":1,"base_url":"http://[::1]:80/a%20b","rate_limit":1e9,"assumed":["\u2028"]}`)
	f.Add(`{"bulkcat_profile":1}{}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProfile([]byte(text))
		if err != nil {
			return
		}
		encoded, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseProfile(encoded); err != nil {
			t.Fatalf("%v: %s", err, encoded)
		}
	})
}
