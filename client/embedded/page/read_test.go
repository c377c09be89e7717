package page

import (
	"bytes"
	"context"
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

func readPage(r io.Reader, contentType string) (Page, error) {
	return read(context.Background(), r, contentType)
}

func TestReadGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test pages: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			page, err := readPage(open(t, file), "text/html")
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
		{"broken bytes", "text/html; charset=utf-8", "<title>é a\xffb\xc3</title>", "é ab"},
		{"windows-1252 that says so", "", "<meta charset=windows-1252><title>\x93Caf\xe9\x94 \x80</title>", "“Café” €"},
		{"windows-1252 that claims utf-8", "text/html; charset=utf-8", "<meta charset=utf-8><title>Caf\xe9</title>", "Café"},
		{"utf-8 that claims latin", "text/html; charset=iso-8859-1", "<meta charset=iso-8859-1><title>Café</title>", "Café"},
		{"utf-8 behind a long head of ascii", "", "<style>" + strings.Repeat("a{}", 1000) + "</style><title>Café</title>", "Café"},
		{"utf-8 behind a very long head of ascii", "", "<style>" + strings.Repeat("a{}", 10_000) + "</style><title>Café</title>", "Café"},
		{"a late meta element", "", "<style>" + strings.Repeat("a{}", 1000) + "</style><META http-equiv=Content-Type content='text/html; Charset=Shift_JIS'><title>\x93\xfa\x96{</title>", "日本"},
		{"a late meta element of something else", "", "<style>" + strings.Repeat("a{}", 1000) + "</style><meta name=x><meta name=y content=koi8-r><title>Caf\xe9</title>", "Café"},
		{"a meta element across the first kilobyte", "", "<style>" + strings.Repeat("x", 1024-27) + "</style><meta charset=koi8-r><title>\xc1</title>", "а"},
		{"Shift_JIS", "text/html; charset=Shift_JIS", "<title>\x93\xfa\x96{\x8c\xea</title>", "日本語"},
		{"EUC-JP", "text/html; charset=euc-jp", "<title>\xc6\xfc\xcb\xdc</title>", "日本"},
		{"GBK", "text/html; charset=gb2312", "<title>\xd6\xd0\xb9\xfa</title>", "中国"},
		{"Big5", "text/html; charset=big5", "<title>\xa4\xa4</title>", "中"},
		{"EUC-KR", "text/html; charset=euc-kr", "<title>\xc7\xd1</title>", "한"},
		{"utf-16, big end first", "", "\xfe\xff\x00<\x00t\x00i\x00t\x00l\x00e\x00>\x00h\x00\xe9", "hé"},
		{"utf-16 behind a header that says otherwise", "text/html; charset=utf-8", "\xff\xfe<\x00t\x00i\x00t\x00l\x00e\x00>\x00h\x00", "h"},
		{"a charset with a quote", "text/html; charset='utf-8'", "<title>Café</title>", "Café"},
		{"a surrogate", "text/html; charset=utf-8", "<title>é a\xed\xa0\x80b</title>", "é ab"},
		{"an empty page", "text/html; charset=utf-8", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := readPage(strings.NewReader(tt.body), tt.contentType)
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
	page, err := readPage(strings.NewReader(
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
		page, err := readPage(r, "text/html")
		if !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
		if page.Title != "Shop" || !slices.Equal(page.Headings, []string{"Boots"}) {
			t.Errorf("page %+v", page)
		}
	}
}

func TestReadEndsAtATokenTooLong(t *testing.T) {
	page, err := readPage(strings.NewReader("<title>Shop</title><p title='"+strings.Repeat("x", maxToken+1)+"'>late"), "text/html")
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
		page, err := readPage(bytes.NewReader(body), contentType)
		if err != nil {
			t.Fatalf("reading from memory failed: %v", err)
		}
		parts := slices.Concat(page.Headings, page.Types, page.Breadcrumb, []string{page.Title, page.Description, page.Keywords,
			page.OGTitle, page.OGDescription, page.SiteName, page.Section, page.Product, page.Category, page.Text})
		for _, part := range parts {
			if !utf8.ValidString(part) || len(part) > maxText || part != strings.Join(strings.Fields(part), " ") {
				t.Errorf("part %q is not folded, bounded text", part)
			}
		}
	})
}
