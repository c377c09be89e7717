package reader

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

func encoded(t testing.TB, e encoding.Encoding, text string) string {
	t.Helper()
	s, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGuessedEncoding(t *testing.T) {
	german := "id,title\n1,Grüner Tee „Frühlingsernte“, Größe 5\n2,Spaß’n € – ça\n"
	portuguese := "id,title\n1,Coleção de canções\n2,CORAÇÃO\n"
	french := "id,title\n1,«\u00a0Œuvre d’été\u00a0» à 5\u00a0€\n"
	cyrillic := "id,title\n1,Зелёный чай Green Tea 100 g\n"
	chinese := "id,title\n1,绿茶,green tea 100 g\n"
	little, big := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	ascii := strings.Repeat("a plain line of ASCII\n", 10_000) // longer than any window
	tests := []struct {
		name, content string
		encoding      string // "" for UTF-8
		text          string // "" for the content itself
	}{
		{"ASCII", "id,title\n1,Tea\n", "", ""},
		{"UTF-8", german, "", ""},
		{"UTF-8 behind much ASCII", ascii + german, "", ""},
		{"UTF-8 with one broken character", german + "caf\xe9\n", "", ""},
		{"broken UTF-8 before UTF-8", "caf\xe9\n" + german, "", ""},
		{"UTF-8 whose last character is cut off", "id,title\n1,Gr\xc3", "windows-1252", "id,title\n1,GrÃ"},
		{"UTF-8 in Chinese", chinese, "", ""},
		{"UTF-8 with NUL", "id,title\n1,a\x00b\n2,Grün\n", "", ""},
		{"Windows-1252, German", encoded(t, charmap.Windows1252, german), "windows-1252", german},
		{"Windows-1252, Portuguese", encoded(t, charmap.Windows1252, portuguese), "windows-1252", portuguese},
		{"Windows-1252, French", encoded(t, charmap.Windows1252, french), "windows-1252", french},
		{"Windows-1252 behind much ASCII", ascii + encoded(t, charmap.Windows1252, german), "windows-1252", ascii + german},
		{"a single byte beyond ASCII", "caf\xe9", "windows-1252", "café"},
		{"UTF-16LE", encoded(t, little, german), "utf-16le", german},
		{"UTF-16BE", encoded(t, big, german), "utf-16be", german},
		{"UTF-16LE, half Chinese", encoded(t, little, chinese), "utf-16le", chinese},
		{"UTF-16BE, half Chinese", encoded(t, big, chinese), "utf-16be", chinese},
		{"UTF-16LE of one character", "a\x00", "utf-16le", "a"},

		// Other encodings are not Windows-1252.
		{"Windows-1251, Cyrillic", encoded(t, charmap.Windows1251, cyrillic), "", ""},
		{"KOI8-R, Cyrillic", encoded(t, charmap.KOI8R, cyrillic), "", ""},
		{"GBK", encoded(t, simplifiedchinese.GBK, chinese+"2,包子\n"), "", ""},
		{"Shift JIS", encoded(t, japanese.ShiftJIS, "id,title\n1,緑茶、おいしい\n"), "", ""},
		{"Mac Roman", encoded(t, charmap.Macintosh, "id,title\n1,caffè\n"), "", ""},
		{"control characters", "caf\xe9\x01\n", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := test.text
			if test.encoding == "" {
				want = test.content
			}
			for how, src := range map[string]io.Reader{"at once": strings.NewReader(test.content), "in pieces": iotest.HalfReader(strings.NewReader(test.content))} {
				r, f := &Reader{options: Options{Log: slog.New(slog.DiscardHandler)}}, &file{info: FileInfo{Name: "in"}}
				s, err := r.newStream(f, io.NopCloser(src), new(atomic.Int64))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(s.text)
				if err != nil || string(got) != want || f.guessed != test.encoding {
					t.Errorf("%s: got %s, %.200q (%v), want %s, %.200q", how, f.guessed, got, err, test.encoding, want)
				}
			}
		})
	}
}

// Each file logs its guess once. Strict mode does not guess.
func TestGuessIsTold(t *testing.T) {
	path := writeFile(t, "a.csv", "domain,n\ncaf\xe9.com,1\n")
	for strict, want := range map[bool]string{
		false: "2 café.com\n",
		true:  "2! " + faultEncoding + "\n",
	} {
		var log bytes.Buffer
		r := openReader(t, Options{Paths: []string{path}, Columns: []string{"domain"}, Log: slog.New(slog.NewTextHandler(&log, nil)), Dialect: Dialect{Strict: strict}})
		if got := summary(readAll(t, r)); got != want {
			t.Errorf("strict %t: got %q, want %q", strict, got, want)
		}
		if n := strings.Count(log.String(), "encoding=windows-1252"); (n == 1) == strict || strings.Count(log.String(), "\n") != n {
			t.Errorf("strict %t: the log has %q", strict, log.String())
		}
	}
}

// An encoding is not guessed if the options or a byte order mark give it.
func TestNamedEncodingIsNotGuessed(t *testing.T) {
	for content, named := range map[string]string{
		"domain\ncaf\xe9\n":                 "utf-8",
		"\ufeffdomain\ncaf\xe9\n":           "",
		"domain\nb\x00c\x00d\x00e\x00f\x00": "utf-8",
	} {
		var log bytes.Buffer
		r := openReader(t, fromString(content, Options{Columns: []string{"domain"}, Encoding: named, Log: slog.New(slog.NewTextHandler(&log, nil))}))
		readAll(t, r)
		if log.Len() > 0 {
			t.Errorf("%q: the log has %s", content, log.String())
		}
	}
}
