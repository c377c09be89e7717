package reader

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"
)

// Every encoding of the WHATWG Encoding Standard is read, with its first label, also if characters of several bytes lie
// at the ends of reads and buffers.
func TestNamedEncodings(t *testing.T) {
	const japanese, cyrillic = "緑茶、ソース付き 表示ｱ", "Зелёный чай «Весна»"
	for label, text := range map[string]string{
		"utf-8": "žluťoučký 緑茶 😀", "utf-16": "žluťoučký 緑茶 😀", "utf-16be": "žluťoučký 緑茶 😀", "unicode": "žluťoučký 緑茶",
		"windows-1250": "Příliš žluťoučký kůň – „łódź”", "iso-8859-2": "Příliš žluťoučký kůň, łódź", "latin2": "Zażółć gęślą jaźń",
		"windows-1251": cyrillic, "koi8-r": "Зелёный чай", "koi8-u": "Зелений чай ґ", "iso-8859-5": "Зелёный чай", "ibm866": "Зелёный чай", "x-mac-cyrillic": "Зелёный чай",
		"windows-1252": "Grüner Tee „Œuvre“ 5 €", "latin1": "Grüner Tee „Œuvre“ 5 €", "us-ascii": "Grüner Tee", "iso-8859-15": "Œuvre à 5 €", "macintosh": "caffè – Größe",
		"windows-1253": "Πράσινο τσάι", "iso-8859-7": "Πράσινο τσάι €",
		"windows-1254": "Yeşil çay ığdır İstanbul", "iso-8859-9": "Yeşil çay ığdır İstanbul",
		"windows-1255": "תה ירוק", "iso-8859-8": "תה ירוק", "iso-8859-8-i": "תה ירוק",
		"windows-1256": "شاي أخضر", "iso-8859-6": "شاي أخضر",
		"windows-1257": "Žalioji arbata ąčęėįšųūž", "iso-8859-4": "Žalioji arbata", "iso-8859-13": "Žalioji arbata", "windows-1258": "Trà xanh ươ", "windows-874": "ชาเขียว",
		"iso-8859-3": "Te aħdar ĝ", "iso-8859-10": "Grænt te þ", "iso-8859-14": "Te gwyrdd ŵ", "iso-8859-16": "Ceai verde ș ț €",
		"shift_jis": japanese, "euc-jp": japanese, "iso-2022-jp": "緑茶、ソース付き 表示", "ms_kanji": japanese,
		"gbk": "绿茶 包子 €", "gb2312": "绿茶 包子", "gb18030": "绿茶 包子 😀 ü", "big5": "綠茶 功夫 許蓋", "euc-kr": "녹차 똠방각하", "ks_c_5601-1987": "녹차",
	} {
		t.Run(label, func(t *testing.T) {
			_, e, known := encodingOf(label)
			if !known {
				t.Fatal("not known")
			}
			var plain strings.Builder
			plain.WriteString("url,title,n\n")
			for i := range 400 { // more than a buffer of the decoder, whose end lies at another place in each text
				fmt.Fprintf(&plain, "%sa.com,\"%s, \"\"%s\"\"\n%[2]s\",%[4]d\n", strings.Repeat("x", i%7), text, text, i)
			}
			content := encoded(t, e, plain.String())
			want, err := recordsOf(t, plain.String(), Options{Format: "csv", Columns: []string{"url"}, Encoding: "utf-8"})
			if err != nil {
				t.Fatal(err)
			}
			for how, o := range map[string]Options{
				"file":         {Paths: []string{writeFile(t, "list.csv", content)}},
				"byte by byte": {Paths: []string{"-"}, Stdin: iotest.OneByteReader(strings.NewReader(content)), Format: "csv"},
			} {
				o.Columns, o.Encoding = []string{"url"}, strings.ToUpper(label)
				got := readAll(t, openReader(t, o))
				if fields(got) != fields(want) {
					t.Errorf("%s: got\n%.300s\nwant\n%.300s", how, fields(got), fields(want))
				}
			}
		})
	}
}

// fields has the fields of the records, or the reason for which they are malformed.
func fields(records []Record) string {
	var b strings.Builder
	for _, rec := range records {
		fmt.Fprintf(&b, "%q %v\n", rec.Fields, rec.Err != nil)
	}
	return b.String()
}

// Bytes that are invalid in an encoding make their record malformed, as in UTF-8, and no other: they hide no delimiter
// and no line end behind them.
func TestInvalidBytes(t *testing.T) {
	for label, invalid := range map[string]string{
		"utf-8": "\xe9", "shift_jis": "\x81", "euc-jp": "\xa4", "gbk": "\x81", "gb18030": "\xff", "big5": "\x81", "euc-kr": "\xa1",
		"iso-8859-8": "\xff", "windows-1253": "\xff", "windows-874": "\xff", "iso-8859-7": "\xff",
	} {
		content := "url,title\na" + invalid + ",1\nb.com,2" + invalid + "\nc.com,3\n\"d" + invalid + "\",4\r\ne.com,5\n"
		fault := strings.Replace(faultEncoding, "UTF-8", label, 1)
		if label == "utf-8" {
			fault = faultEncoding
		}
		want := fmt.Sprintf("2! %s\n3! %[1]s\n4 c.com\n5! %[1]s\n6 e.com\n", fault)
		for _, format := range []string{"csv", "txt"} {
			if format == "txt" {
				content = "a" + invalid + "\nb" + invalid + "\r\nc.com\n"
				want = fmt.Sprintf("1! %s\n2! %[1]s\n3 c.com\n", fault)
			}
			o := Options{Format: format, Encoding: label, Dialect: Dialect{Strict: true}}
			if format == "csv" {
				o.Columns = []string{"url"}
			}
			if got := summary(readAll(t, openReader(t, fromString(content, o)))); got != want {
				t.Errorf("%s, %s: got\n%swant\n%s", label, format, got, want)
			}
		}
	}
}

// A surrogate without its other half makes its record malformed.
func TestLoneSurrogates(t *testing.T) {
	content := "a\x00\x00\xd8\n\x00\x00\xdcb\x00\n\x00c\x00\n\x00"
	want := fmt.Sprintf("1! %s\n2! %[1]s\n3 c\n", "invalid utf-16"+otherEncoding)
	if got := summary(readAll(t, openReader(t, fromString(content, Options{Format: "txt", Encoding: "utf-16"})))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A guess may be wrong: the warning says so, and names encodings. All of these names are known.
func TestWarningOfGuess(t *testing.T) {
	var log bytes.Buffer
	content := encoded(t, charmap.Windows1250, "url,title\na.com,kůň\n")
	o := fromString(content, Options{Columns: []string{"url"}, Format: "csv", Log: slog.New(slog.NewTextHandler(&log, nil))})
	readAll(t, openReader(t, o))
	for _, word := range []string{"may be wrong", "encoding=windows-1252", "option=reader.Encoding"} {
		if !strings.Contains(log.String(), word) {
			t.Errorf("no %q in %s", word, log.String())
		}
	}
	for _, name := range []string{"windows-1250", "iso-8859-2", "windows-1251", "windows-1254", "shift_jis", "euc-kr", "gbk", "big5"} {
		if _, _, known := encodingOf(name); !known || !strings.Contains(log.String(), name) {
			t.Errorf("%s is not named, or not known: %s", name, log.String())
		}
	}
}
