package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

// Answers and errors are read in the charset of their content type.
func TestCharset(t *testing.T) {
	little, big := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for _, tt := range []struct {
		name, contentType string
		encoding          encoding.Encoding // nil for UTF-8
		text              string
	}{
		{"UTF-8", "application/json; charset=utf-8", nil, "Café – 茶"},
		{"no charset", "application/json", nil, "Café – 茶"},
		{"no content type", "", nil, "Café – 茶"},
		{"unknown charset", "application/json; charset=none", nil, "Café – 茶"},
		{"UTF-8 under another name", "application/json;charset=ISO-8859-1", nil, "Café – 茶"},
		{"ISO-8859-1", "application/json;charset=ISO-8859-1", charmap.ISO8859_1, "Café"},
		{"in quotes and small letters", `text/plain; charset="latin1"`, charmap.ISO8859_1, "Café"},
		{"windows-1252", "application/json; charset=windows-1252", charmap.Windows1252, "Café – €"},
		{"windows-1251", "application/json; charset=cp1251", charmap.Windows1251, "Чай"},
		{"Shift JIS", "application/json; charset=Shift_JIS", japanese.ShiftJIS, "お茶"},
		{"ISO-2022-JP", "application/json; charset=iso-2022-jp", japanese.ISO2022JP, "お茶"},
		{"UTF-16", "application/json; charset=utf-16", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "Café – 茶"},
		{"UTF-16, little endian, with a mark", "application/json; charset=utf-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "Café – 茶"},
		{"UTF-16LE", "application/json; charset=utf-16le", little, "Café – 茶"},
		{"UTF-16BE", "application/json; charset=utf-16be", big, "Café – 茶"},
		{"UTF-16 without a charset", "application/json", little, "Café – 茶"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status := http.StatusOK
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				body := `{"taxonomy_v3":[{"value":"` + tt.text + `","confidence":1}]}`
				if status != http.StatusOK {
					body = `{"message":"` + tt.text + `"}`
				}
				if tt.encoding != nil {
					body, _ = tt.encoding.NewEncoder().String(body)
				}
				w.Header().Set("Content-Type", tt.contentType)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			}))
			defer server.Close()
			c, err := New(Options{BaseURL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			answer, err := c.exchange(t.Context(), testRequest)
			if err != nil || len(answer.Entries) != 1 || answer.Entries[0].Value != tt.text {
				t.Errorf("got %+v, %v", answer.Entries, err)
			}
			status = http.StatusBadRequest
			if e, ok := answerError(c.exchange(t.Context(), testRequest)); !ok || e.Detail != tt.text {
				t.Errorf("got %v", e)
			}
		})
	}
}

func answerError(_ Answer, err error) (*Error, bool) {
	e, ok := err.(*Error)
	return e, ok
}
