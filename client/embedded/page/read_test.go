package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files")

func TestReadGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test pages: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			page, err := Read(open(t, file), "text/html")
			if err != nil {
				t.Fatal(err)
			}
			got := marshal(t, page)
			golden := strings.TrimSuffix(file, ".html") + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func open(t *testing.T, file string) io.Reader {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func marshal(t *testing.T, page Page) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(page); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadCharset(t *testing.T) {
	tests := []struct {
		name, contentType, body, want string
	}{
		{"utf-8 by default", "text/html", "<title>Café</title>", "Café"},
		{"latin without a word of it", "text/html", "<title>Caf\xe9</title>", "Café"},
		{"the header", "text/html; charset=iso-8859-2", "<title>\xb3\xf3d\xbc</title>", "łódź"},
		{"the header before the meta element", "text/html; charset=utf-8", "<meta charset=koi8-r><title>é</title>", "é"},
		{"the meta element", "", "<meta charset=shift_jis><title>\x93\xfa\x96{</title>", "日本"},
		{"a byte order mark before all", "text/html; charset=koi8-r", "\xef\xbb\xbf<title>é</title>", "é"},
		{"utf-16", "", "\xff\xfe<\x00t\x00i\x00t\x00l\x00e\x00>\x00h\x00i\x00", "hi"},
		{"a charset nobody knows", "text/html; charset=klingon", "<title>plain</title>", "plain"},
		{"broken bytes", "text/html; charset=utf-8", "<title>a\xffb\xc3</title>", "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := Read(strings.NewReader(tt.body), tt.contentType)
			if err != nil || page.Title != tt.want {
				t.Errorf("title %q, error %v; want %q", page.Title, err, tt.want)
			}
		})
	}
}

func TestReadRefresh(t *testing.T) {
	tests := []struct{ content, want string }{
		{"0;url=/home", "/home"},
		{"0; URL = https://example.com/ ", "https://example.com/"},
		{`3, url="/a;b=c"`, "/a;b=c"},
		{"0.5;url=/x", "/x"},
		{"30;url=/later", ""},
		{"5", ""},
		{"NaN;url=/x", ""},
		{"soon;url=/x", ""},
		{"0;/x", ""},
		{"0;url=" + strings.Repeat("x", maxURL+1), ""},
	}
	for _, tt := range tests {
		if got := refreshURL(tt.content); got != tt.want {
			t.Errorf("refreshURL(%.40q) = %q, want %q", tt.content, got, tt.want)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	page, err := Read(strings.NewReader(
		"<title>"+strings.Repeat("é", 10_000)+"</title>"+
			strings.Repeat("<h1>heading</h1>", 1000)+
			strings.Repeat("<div>", 100_000)+strings.Repeat("word ", 100_000)), "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Title) != maxTitle || len(page.Headings) != maxHeadings || len(page.Text) > maxText {
		t.Errorf("title %d bytes, %d headings, text %d bytes", len(page.Title), len(page.Headings), len(page.Text))
	}
	if len(page.Text) < maxText-10 {
		t.Errorf("text stops at %d bytes, long before %d", len(page.Text), maxText)
	}
}

func TestReadKeepsWhatCameBeforeTheError(t *testing.T) {
	broken := errors.New("connection reset")
	for _, tail := range []string{"", "<p>", "<p>" + strings.Repeat("x", 5000)} {
		r := io.MultiReader(strings.NewReader("<title>Shop</title><h1>Boots</h1>"+tail), iotest.ErrReader(broken))
		page, err := Read(r, "text/html")
		if !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
		if page.Title != "Shop" || !slices.Equal(page.Headings, []string{"Boots"}) {
			t.Errorf("page %+v", page)
		}
	}
}

func TestReadEndsAtATokenTooLong(t *testing.T) {
	page, err := Read(strings.NewReader("<title>Shop</title><p title='"+strings.Repeat("x", maxToken+1)+"'>late"), "text/html")
	if err != nil || page.Title != "Shop" || page.Text != "" {
		t.Errorf("title %q, text %q, error %v", page.Title, page.Text, err)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, "text/html; charset=utf-8")
		f.Add(body, "")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		page, err := Read(bytes.NewReader(body), contentType)
		if err != nil {
			t.Fatalf("reading from memory failed: %v", err)
		}
		parts := append([]string{page.Title, page.Description, page.Keywords, page.OGTitle, page.OGDescription, page.Text}, page.Headings...)
		for _, part := range parts {
			if !utf8.ValidString(part) || len(part) > maxText || part != strings.Join(strings.Fields(part), " ") {
				t.Errorf("part %q is not folded, bounded text", part)
			}
		}
	})
}
