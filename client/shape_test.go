package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// An answer of whole JSON that does not fit is no passing failure: the error says what was expected and where the
// answer has a list of entries.
func TestAnswerOfAnotherShape(t *testing.T) {
	for _, tt := range []struct{ name, body, reason, member string }{
		{"another name", `{"classification":[{"value":"A","confidence":0.5}]}`, `no member "taxonomy_v3"`, "classification"},
		{"nested", `{"data":{"taxonomy_v3":[{"value":"A"}],"other":[{"value":"B"}]}}`, `no member "taxonomy_v3"`, "data.{classification}"},
		{"nested deeply", `{"a":{"b":{"c":{"taxonomy_v3":[{"value":"A"}]}}}}`, `no member`, "a.b.c.{classification}"},
		{"in its own member", `{"taxonomy_v3":{"categories":[{"value":"A"}]}}`, "not a list of entries", "taxonomy_v3.categories"},
		{"an array", `[{"value":"A","confidence":0.5}]`, "not a JSON object", "."},
		{"an array of one answer", `[{"taxonomy_v3":[{"value":"A"}]}]`, "not a JSON object", "0.{classification}"},
		{"two lists", `{"first":[{"value":"A"}],"second":[{"value":"B"}]}`, "no member", ""},
		{"other names in entries", `{"taxonomy_v3":[{"category":"A","score":0.5}]}`, `no member "value", but ["category" "score"]`, ""},
		{"a list for a value", `{"taxonomy_v3":[{"value":"A"},{"value":["A","B"]}]}`, `an entry of the answer's member "taxonomy_v3" has a "value" that is of type array, not a text`, ""},
		{"an object for a value", `{"taxonomy_v3":[{"value":{"id":1}}]}`, `has a "value" that is of type object, not a text`, ""},
		{"a list for a title", `{"taxonomy_v3":[{"value":"A","title":["a"]}]}`, `has a "title" that is of type array, not a text`, ""},
		{"lists for entries", `{"taxonomy_v3":[["A"]]}`, "not a list of entries", ""},
		{"texts", `{"taxonomy_v3":["A > B"]}`, "not a list of entries", ""},
		{"a text", `"maintenance"`, "not a JSON object", ""},
		{"words", `{"error":"try again"}`, `no member "taxonomy_v3"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := tt.body
			handler := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
			_, err := setup(t, handler, nil).exchange(t.Context(), testRequest)
			shape, ok := errors.AsType[*ShapeError](err)
			if !ok || ClassOf(err) != Fatal || shape.Member != tt.member || !strings.Contains(shape.Reason, tt.reason) {
				t.Fatalf("got %v, %+v", err, shape)
			}
			for _, text := range []string{tt.body, `{"taxonomy_v3": [{"value": "A > B", "confidence": 0.9}]}`} {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s is not in %v", text, err)
				}
			}
			if shape.Worded != (tt.name == "words") {
				t.Errorf("worded is %t", shape.Worded)
			}
			if tt.member == "" {
				return
			}
			c := setup(t, handler, func(o *Options) { o.Member = tt.member })
			answer, err := c.exchange(t.Context(), testRequest)
			if err != nil || len(answer.Entries) != 1 || answer.Entries[0].Value != "A" {
				t.Fatalf("with the member %s: %+v, %v", tt.member, answer, err)
			}
			if stored, err := ParseAnswer(answer.Body, TaxonomyV3); err != nil || !slices.EqualFunc(stored.Entries, answer.Entries, func(a, b Entry) bool { return a.Value == b.Value }) {
				t.Errorf("the body reads back as %+v, %v", stored, err)
			}
		})
	}
}

// What is no whole JSON may pass, and odd entries among sound ones are dropped, as ever.
func TestAnswersThatMayPass(t *testing.T) {
	for _, body := range []string{"", "<html>portal</html>", `{"taxonomy_v3":[{"value":"A"`} {
		_, err := setup(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }, nil).exchange(t.Context(), testRequest)
		if ClassOf(err) != Transient {
			t.Errorf("%q: got %v", body, err)
		}
	}
	for _, body := range []string{`{"taxonomy_v3":[]}`, `{"taxonomy_v3":[{"value":null}]}`, `{"taxonomy_v3":[{"value":"A","confidence":"0.5"},{"name":"B"}]}`} {
		if _, err := setup(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }, nil).exchange(t.Context(), testRequest); err != nil {
			t.Errorf("%q: got %v", body, err)
		}
	}
}

func TestShapeErrorShowsTheAnswer(t *testing.T) {
	body := `{"key":"` + testKey + `","note":"\u001b[31m","rows":[` + strings.Repeat("1,\t", 400) + `2]}`
	c := setup(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }, nil)
	_, err := c.exchange(t.Context(), testRequest)
	e, _ := errors.AsType[*Error](err)
	if n := len(e.Detail); n < bodyShown || n > bodyShown+20 || strings.Contains(e.Error(), testKey) || strings.ContainsAny(e.Error(), "\t\x1b") {
		t.Errorf("%d bytes: %v", n, e)
	}
	if r := e.Rejection(); r.Class != Rejected || len(r.Error()) > 300 || !strings.HasPrefix(r.Error(), `HTTP 200 OK: the answer has no member "taxonomy_v3": {"key"`) {
		t.Errorf("got %v", r)
	}
}

func TestUsageOfAnotherShape(t *testing.T) {
	c := setup(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":{"remaining":5}}`) }, nil)
	_, err := c.Usage(t.Context())
	if ClassOf(err) != Fatal || !strings.Contains(err.Error(), `expected {"plan": "basic", "remaining": "1000"}: got {"data":{"remaining":5}}`) {
		t.Errorf("got %v", err)
	}
}

func TestMemberIsChecked(t *testing.T) {
	for member, ok := range map[string]bool{"": true, ".": true, "data.{classification}": true, "a.0": true, "a..b": false, ".a": false, "a.": false} {
		if _, err := New(Options{BaseURL: "http://service", Member: member}); (err == nil) != ok {
			t.Errorf("%q: %v", member, err)
		}
	}
}

// An answer without anything is one without entries, and is stored in the shape of the interface.
func TestEmptyAnswers(t *testing.T) {
	const nested = "data.{classification}"
	for _, tt := range []struct {
		name, member string
		status       int
		body         string
		empty        bool
	}{
		{"an empty list", "", 200, `{"taxonomy_v3":[]}`, true},
		{"no content", "", 204, ``, true},
		{"reset content", "", 205, ``, true},
		{"null", "", 200, `null`, true},
		{"an empty object", "", 200, " {\n} ", true},
		{"an empty list alone", "", 200, `[]`, true},
		{"an empty text", "", 200, `""`, true},
		{"null for the list", "", 200, `{"id":1,"taxonomy_v3":null}`, true},
		{"an object for the list", "", 200, `{"taxonomy_v3":{}}`, true},
		{"a text for the list", "", 200, `{"taxonomy_v3":""}`, true},
		{"nested: null above", nested, 200, `{"id":1,"data":null}`, true},
		{"nested: an empty list above", nested, 200, `{"data":[]}`, true},
		{"nested: null", nested, 200, `{"data":{"taxonomy_v3":null}}`, true},
		{"nested: an empty list", nested, 200, `{"data":{"taxonomy_v3":[]}}`, true},
		{"the answer is the list", ".", 200, `[]`, true},
		{"no body", "", 200, ``, false},
		{"another member", "", 200, `{"categories":[]}`, false},
		{"an error beside it", "", 200, `{"error":"no such site"}`, false},
		{"false", "", 200, `false`, false},
		{"an error without a body", "", 500, ``, false},
		{"an empty error", "", 500, `{}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			c, err := New(Options{BaseURL: server.URL, Member: tt.member})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			answer, err := c.exchange(t.Context(), testRequest)
			if (err == nil) != tt.empty || len(answer.Entries) > 0 {
				t.Fatalf("got %+v, %v", answer, err)
			}
			if stored, err := ParseAnswer(answer.Body, TaxonomyV3); tt.empty && (err != nil || stored.Entries == nil || len(stored.Entries) > 0) {
				t.Errorf("stored as %s: %v", answer.Body, err)
			}
		})
	}
}
