package page

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// endless repeats a text without end, and counts the bytes that were read.
type endless struct {
	text string
	read int64
	slow time.Duration // between two pieces
}

func (e *endless) Read(b []byte) (int, error) {
	time.Sleep(e.slow)
	n := copy(b, e.text)
	e.read += int64(n)
	return n, nil
}

func (*endless) Close() error { return nil }

// only returns a Fetcher in a network whose sites have no robots.txt and all answer in one way.
func only(opts Options, answer func(req *http.Request) *http.Response) *Fetcher {
	opts.Transport = transport(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == robotsPath {
			return respond(req, 404, ""), nil
		}
		return answer(req), nil
	})
	return New(opts)
}

func TestEndlessPage(t *testing.T) {
	for i, text := range []string{"<p>word ", "<a ", "<!-- ", "<script>", "<div>", "&amp;", "</title>", "<h1>", "\x00"} {
		body := &endless{text: text}
		f := only(Options{}, func(req *http.Request) *http.Response {
			res := respond(req, 200, "", "Content-Type", mediaHTML)
			res.Body = body
			return res
		})
		if i > 0 {
			f.maxBytes = 256 << 10 // the whole page takes a second
		}
		page, err := f.Fetch(t.Context(), "https://endless.example/")
		if err != nil || len(page.Text) > maxText {
			t.Errorf("%q: %d bytes of text, error %v", text, len(page.Text), err)
		}
		if most := f.maxBytes + 64<<10; body.read > most {
			t.Errorf("%q: %d bytes were read, want at most %d", text, body.read, most)
		}
	}
}

func TestSlowPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := only(Options{}, func(req *http.Request) *http.Response {
			res := respond(req, 200, "", "Content-Type", mediaHTML)
			reader, writer := io.Pipe()
			go func() { // a byte a second, until the visitor leaves
				for range time.Tick(time.Second) {
					if _, err := writer.Write([]byte("x")); err != nil || req.Context().Err() != nil {
						writer.CloseWithError(req.Context().Err())
						return
					}
				}
			}()
			res.Body = reader
			return res
		})
		start := time.Now()
		_, err := f.Fetch(t.Context(), "https://slow.example/")
		wantReason(t, err, Timeout)
		if took := time.Since(start); took > Limit+2*time.Second {
			t.Errorf("took %v, want %v", took, Limit)
		}
	})
}

func TestManyRedirects(t *testing.T) {
	for name, location := range map[string]func(n int) string{
		"of one host":    func(n int) string { return fmt.Sprintf("/%d", n) },
		"of many hosts":  func(n int) string { return fmt.Sprintf("https://host%d.example/", n) },
		"between two":    func(n int) string { return fmt.Sprintf("https://host%d.example/", n%2) },
		"to itself":      func(int) string { return "/" },
		"that say where": func(int) string { return "https://many.example/?" + strings.Repeat("x", 100_000) },
	} {
		t.Run(name, func(t *testing.T) {
			hops := 0
			f := New(Options{Transport: transport(func(req *http.Request) (*http.Response, error) {
				if hops++; hops > 100 {
					return respond(req, 200, "<title>There</title>", "Content-Type", mediaHTML), nil
				}
				return respond(req, 302, "", "Location", location(hops)), nil
			})})
			_, err := f.Fetch(t.Context(), "https://many.example/")
			wantReason(t, err, Redirects)
			// Every hop of a page may lead to a host with a robots.txt of its own.
			if most := (maxHops + 1) * (maxRobotsHops + 2); hops > most {
				t.Errorf("%d requests, want at most %d", hops, most)
			}
		})
	}
}

func TestHugeTitle(t *testing.T) {
	page, err := readPage(strings.NewReader("<title>"+strings.Repeat("shoes ", 10<<20/6)+"</title><p>late"), "")
	if err != nil || len(page.Title) < maxTitle-10 || len(page.Title) > maxTitle {
		t.Errorf("title of %d bytes, error %v", len(page.Title), err)
	}
}

func TestBombs(t *testing.T) {
	gzipped := func(write func(io.Writer)) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		write(z)
		z.Close()
		return b.Bytes()
	}
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	tests := []struct {
		name, coding string
		body         []byte
		want         FailureKind
	}{
		{"16 MiB of spaces", "gzip", gzipped(func(w io.Writer) {
			for range 16 {
				w.Write(spaces)
			}
		}), ""},
		{"no gzip at all", "gzip", []byte("<title>plain</title>"), Broken},
		{"half of it", "gzip", gzipped(func(w io.Writer) { io.WriteString(w, strings.Repeat("<p>word", 1000)) })[:40], Broken},
		{"gzip within gzip", "gzip, gzip", []byte("\x1f\x8b"), NotHTML},
		{"brotli", "br", []byte("\x8b\x00"), NotHTML},
		{"zstandard", "zstd", []byte("\x28\xb5\x2f\xfd"), NotHTML},
		{"none", "identity", []byte("<title>plain</title>"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == robotsPath {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", mediaHTML)
				w.Header().Set("Content-Encoding", tt.coding)
				w.Write(tt.body)
			}))
			defer server.Close()
			_, err := New(Options{AllowPrivate: true}).Fetch(t.Context(), server.URL)
			if tt.want != "" {
				wantReason(t, err, tt.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHugeHeader(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2*maxHeaderBytes))
	}))
	defer server.Close()
	_, err := New(Options{AllowPrivate: true}).Fetch(t.Context(), server.URL)
	var failed *Error
	if !errors.As(err, &failed) || failed.Reason != Broken {
		t.Errorf("error %v, want reason %q", err, Broken)
	}
}
