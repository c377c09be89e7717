package client

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestParseHeader(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Header
	}{
		{"X-Tenant: acme", Header{Name: "X-Tenant", Value: "acme"}},
		{"x-tenant:acme", Header{Name: "x-tenant", Value: "acme"}},
		{" X-Time : 12:30 ", Header{Name: "X-Time", Value: "12:30"}},
		{"User-Agent: ours/1.0", Header{Name: "User-Agent", Value: "ours/1.0"}},
	} {
		if got, err := ParseHeader(tt.text); err != nil || got != tt.want {
			t.Errorf("%q: got %+v, %v", tt.text, got, err)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{"", "Name: value"},
		{"hush", "Name: value"},
		{"hush hush: x", "Name: value"},
		{": hush", "Name: value"},
		{"X-Tenant:", "has no value"},
		{"X-Tenant: hush\r\nX-Other: hush", "not allowed in a header"},
		{"X-Tenant: hush\x00", "not allowed in a header"},
		{"x-api-key: hush", "give the API key separately"},
		{"X-API-KEY: hush", "give the API key separately"},
		{"Host: hush", "base URL"},
		{"content-length: 5", "cannot be set"},
		{"Transfer-Encoding: chunked", "cannot be set"},
		{"Accept-Encoding: hush", "cannot be set"},
		{"Proxy-Authorization: hush", "HTTPS_PROXY"},
		{"Authorization: Bearer hush", "put the header into a file"},
		{"cookie: hush", "put the header into a file"},
	} {
		if _, err := ParseHeader(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: got %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestReadHeaders(t *testing.T) {
	got, err := ReadHeaders(strings.NewReader("# of the gateway\r\n\r\nAuthorization: Bearer hush\r\n  X-Tenant: acme\n"))
	want := []Header{{"Authorization", "Bearer hush", true}, {"X-Tenant", "acme", true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"A: b\nhush\n":             "line 2: not a header",
		"x-api-key: hush":          "line 1: the header x-api-key",
		strings.Repeat("x", 1<<17): "too long",
	} {
		if _, err := ReadHeaders(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func FuzzReadHeaders(f *testing.F) {
	f.Add("Authorization: Bearer abc\n# no\n\nX-A:b")
	f.Add("A: \x7f")
	f.Fuzz(func(t *testing.T, text string) {
		headers, err := ReadHeaders(strings.NewReader(text))
		if err != nil {
			return
		}
		if _, err := New(Options{BaseURL: "https://api.example.com", Headers: headers}); err != nil {
			t.Fatalf("%+v were read, but cannot be sent: %v", headers, err)
		}
	})
}

func TestHeadersOnTheWire(t *testing.T) {
	var got http.Header
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		io.WriteString(w, soundAnswer)
	}, func(o *Options) {
		o.Headers = []Header{{Name: "x-tenant", Value: "a"}, {Name: "X-Tenant", Value: "b"}, {Name: "User-Agent", Value: "ours"}, {"Authorization", "Bearer abc", true}}
	})
	if _, err := c.exchange(t.Context(), testRequest); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"X-Tenant": {"a", "b"}, "User-Agent": {"ours"}, "Authorization": {"Bearer abc"}, "Accept": {"application/json"}, "X-Api-Key": {testKey},
	} {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}

func TestSecretsAreHidden(t *testing.T) {
	const key, token = `key+/="<&>0123456789`, "token-9876543210"
	headers := []Header{{"Authorization", "Bearer " + token, true}, {"X-Tenant", "acme", false}, {"X-Flag", "on", true}}
	s := newSecrets(key, headers)
	for _, text := range []string{
		key, "Bearer " + token, token, "x" + token + "y",
		`key+\/=\u0022\u003c&>0123456789`, `\u006bey+/=\"<\u0026>012345678\u0039`, "key%2B%2F%3D%22%3C%26%3E0123456789", `key+/=\"\u003c\u0026\u003e0123456789`, "key+/=&#34;&lt;&amp;&gt;0123456789",
	} {
		if got := s.hide(text); strings.Contains(got, "0123456789") || strings.Contains(got, "9876543210") || !strings.Contains(got, hidden) {
			t.Errorf("%q: got %q", text, got)
		}
		if got := string(s.hideInAnswer([]byte(text))); strings.Contains(got, "0123456789") || strings.Contains(got, "9876543210") {
			t.Errorf("in an answer, %q: got %q", text, got)
		}
	}
	for _, text := range []string{"", "no Bearer at acme", "on"} {
		if got := s.hide(text); got != text {
			t.Errorf("%q: got %q", text, got)
		}
	}
	for text, want := range map[string]string{`\\u006b`: `\\u006b`, `\u0022\u005c\u007f\n`: `\"\\\u007f\n`, `a\/b\u0041\u00e9`: `a/bA\u00e9`, `\`: `\`} {
		if got := string(unescape([]byte(text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	short := newSecrets("shoes", nil)
	if got := string(short.hideInAnswer([]byte("Apparel > shoes"))); got != "Apparel > shoes" {
		t.Errorf("a short key changes answers: %q", got)
	}
}

// The service echoes the key in an answer with the status 200: no answer, usage or error contains the key.
func TestAnswersHoldNoSecret(t *testing.T) {
	const word = "shoes" // as a key it cannot be told from a category
	escaped := func(key string) string { return fmt.Sprintf(`\u%04x%s`, key[0], key[1:]) }
	for _, tt := range []struct{ name, key, body, want string }{
		{"beside the entries", testKey, `{"account":"KEY","taxonomy_v3":[{"value":"A","confidence":1}]}`, "[secret]"},
		{"in an entry", testKey, `{"taxonomy_v3":[{"value":"A > KEY","confidence":1}]}`, "A > [secret]"},
		{"a key of letters and digits", "k3y-0815", `{"taxonomy_v3":[{"value":"A","title":"KEY"}]}`, "[secret]"},
		{"a common word beside the entries", word, `{"account":"KEY","taxonomy_v3":[{"value":"A","title":"B","confidence":0.5,"for":"KEY"},{"value":"C"}]}`,
			`{"taxonomy_v3":[{"value":"A","title":"B","confidence":0.5},{"value":"C"}]}`},
		{"with an escape", testKey, `{"account":"ESCAPED","taxonomy_v3":[{"value":"A","confidence":1}]}`, "[secret]"},
		{"a common word with an escape", word, `{"account":"ESCAPED","taxonomy_v3":[{"value":"A","confidence":1}]}`, `{"taxonomy_v3":[{"value":"A","confidence":1}]}`},
		{"with an escaped slash", "abc/def/ghi/jkl/mno", `{"account":"abc\/def\/ghi\/jkl\/mno","taxonomy_v3":[{"value":"A","confidence":1}]}`, "[secret]"},
		{"in a name of an answer of another shape", word, `{"taxonomy_v3":[{"KEY":"A"}]}`, "[secret]"},
		{"in a name that leads to the entries", word, `{"KEY":[{"value":"A"}]}`, "[secret]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := strings.NewReplacer("KEY", tt.key, "ESCAPED", escaped(tt.key)).Replace(tt.body)
			c := setup(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) }, func(o *Options) { o.APIKey = tt.key })
			answer, err := c.exchange(t.Context(), testRequest)
			got := fmt.Sprintf("%s %+v %v", answer.Body, answer.Entries, err)
			if strings.Contains(got, tt.key) || strings.Contains(got, escaped(tt.key)) || strings.Contains(got, `abc\/`) || !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"plan":"plan of shoes","remaining":"shoes"}`)
	}, func(o *Options) { o.APIKey = word })
	if usage, err := c.Usage(t.Context()); err != nil || strings.Contains(fmt.Sprint(usage), word) {
		t.Errorf("got %+v, %v", usage, err)
	}
}

// net/http quotes a malformed response in its error.
func TestMalformedResponseHidesSecrets(t *testing.T) {
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(conn, "HTTP/1.1 "+r.Header.Get("X-Api-Key")+" OK\r\n\r\n")
		conn.Close()
	}, nil)
	_, err := c.exchange(t.Context(), testRequest)
	if err == nil || strings.Contains(err.Error(), testKey) || !strings.Contains(err.Error(), hidden) {
		t.Errorf("got %v", err)
	}
}

func TestCustomMember(t *testing.T) {
	custom := Request{Kind: Product, Input: "Drill", Classification: CustomPrefix + "acme"}
	for _, tt := range []struct{ name, body, want string }{
		{"under its own name", `{"product_taxonomy_custom_acme":[{"value":"A"}],"result":[]}`, "A"},
		{"under the other", `{"result":[{"value":"B"}],"also":[]}`, "B"},
		{"under a third", `{"only":[{"value":"C"}]}`, "C"},
		{"under the other, null", `{"result":null,"id":1}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := setup(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, tt.body) }, func(o *Options) { o.CustomMember = "result" })
			answer, err := c.exchange(t.Context(), custom)
			if tt.want == "" {
				if err != nil || len(answer.Entries) > 0 || !answer.Bare {
					t.Errorf("got %+v, %v", answer, err)
				}
				return
			}
			if err != nil || len(answer.Entries) != 1 || answer.Entries[0].Value != tt.want {
				t.Fatalf("got %+v, %v", answer, err)
			}
			stored, err := ParseAnswer(answer.Body, custom.Classification)
			if err != nil || stored.Entries[0].Value != tt.want {
				t.Errorf("the body reads back as %+v, %v", stored, err)
			}
		})
	}
}
