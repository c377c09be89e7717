package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// transport replaces the network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func respond(req *http.Request, status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

const mediaHTML = "text/html"

// site serves every case of TestFetch by its path.
func site(req *http.Request) (*http.Response, error) {
	switch path := req.URL.Path; path {
	case "/robots.txt":
		return respond(req, 404, ""), nil
	case "/":
		return respond(req, 200, "<title>Home</title>", "Content-Type", mediaHTML), nil
	case "/agent":
		return respond(req, 200, "<title>"+req.UserAgent()+"</title>", "Content-Type", mediaHTML), nil
	case "/xhtml":
		return respond(req, 200, "<title>XHTML</title>", "Content-Type", "application/xhtml+xml; charset=utf-8"), nil
	case "/untyped":
		return respond(req, 200, "<!-- x --><title>Untyped</title>"), nil
	case "/untyped-xml":
		return respond(req, 200, "<?xml version='1.0'?><HTML><title>Untyped XML</title>"), nil
	case "/untyped-png":
		return respond(req, 200, "\x89PNG\r\n\x1a\n"), nil
	case "/nothing":
		return respond(req, 204, ""), nil
	case "/pdf":
		return respond(req, 200, "<title>no</title>", "Content-Type", "application/pdf"), nil
	case "/odd":
		return respond(req, 200, "<title>no</title>", "Content-Type", ";;"), nil
	case "/gone":
		return respond(req, 410, "<title>Gone</title>", "Content-Type", mediaHTML), nil
	case "/moved":
		return respond(req, 301, "", "Location", "/"), nil
	case "/loop":
		return respond(req, 302, "", "Location", "/loop"), nil
	case "/to-file":
		return respond(req, 302, "", "Location", "file:///etc/passwd"), nil
	case "/to-metadata":
		return respond(req, 302, "", "Location", "http://169.254.169.254/latest/?token=1"), nil
	case "/to-gone":
		return respond(req, 302, "", "Location", "/gone?session=secret"), nil
	case "/signpost":
		return respond(req, 200, "<meta http-equiv=refresh content='0;url=/#top'>", "Content-Type", mediaHTML), nil
	case "/signpost-loop":
		return respond(req, 200, "<meta http-equiv=refresh content='0;url=?"+req.URL.RawQuery+"x'>", "Content-Type", mediaHTML), nil
	case "/signpost-self":
		return respond(req, 200, "<title>Self</title><meta http-equiv=refresh content='1;url=/signpost-self'>", "Content-Type", mediaHTML), nil
	case "/signpost-file":
		return respond(req, 200, "<meta http-equiv=refresh content='0;url=file:///etc/passwd'>", "Content-Type", mediaHTML), nil
	case "/article":
		return respond(req, 200, "<title>Article</title><meta http-equiv=refresh content='5;url=/'>"+strings.Repeat("long read ", 100), "Content-Type", mediaHTML), nil
	case "/long":
		return respond(req, 200, "<title>Long</title>"+strings.Repeat("word ", 1000)+"END", "Content-Type", mediaHTML), nil
	case "/cut":
		res := respond(req, 200, "", "Content-Type", mediaHTML)
		res.Body = io.NopCloser(io.MultiReader(strings.NewReader("<title>Cut"), errReader{}))
		return res, nil
	}
	return nil, fmt.Errorf("no case for %s", req.URL.Path)
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestFetch(t *testing.T) {
	tests := []struct {
		name, url string
		title     string
		reason    FailureKind
		failedURL string
	}{
		{name: "a page", url: "https://example.com/", title: "Home"},
		{name: "the user agent", url: "https://example.com/agent", title: "bulkcat/1.2.3 (+https://github.com/bulkcat/bulkcat)"},
		{name: "xhtml", url: "https://example.com/xhtml", title: "XHTML"},
		{name: "html without a content type", url: "https://example.com/untyped", title: "Untyped"},
		{name: "html behind an xml declaration", url: "https://example.com/untyped-xml", title: "Untyped XML"},
		{name: "an image without a content type", url: "https://example.com/untyped-png", reason: NotHTML},
		{name: "no content", url: "https://example.com/nothing", reason: NotHTML},
		{name: "a document", url: "https://example.com/pdf", reason: NotHTML},
		{name: "a malformed content type", url: "https://example.com/odd", reason: NotHTML},
		{name: "gone", url: "https://user:pw@example.com/gone?key=1", reason: Status, failedURL: "https://example.com/gone"},
		{name: "a redirect", url: "https://example.com/moved", title: "Home"},
		{name: "a redirect that goes nowhere", url: "https://example.com/loop", reason: Redirects, failedURL: "https://example.com/loop"},
		{name: "a redirect to a file", url: "https://example.com/to-file", reason: BadURL},
		{name: "a redirect to the local network", url: "https://example.com/to-metadata", reason: Blocked, failedURL: "http://169.254.169.254/latest/"},
		{name: "a redirect to an error", url: "https://example.com/to-gone", reason: Status, failedURL: "https://example.com/gone"},
		{name: "a meta refresh", url: "https://example.com/signpost", title: "Home"},
		{name: "a meta refresh that goes nowhere", url: "https://example.com/signpost-loop", reason: Redirects},
		{name: "a meta refresh to itself", url: "https://example.com/signpost-self", title: "Self"},
		{name: "a meta refresh to a file", url: "https://example.com/signpost-file", reason: BadURL},
		{name: "a meta refresh on a page with text", url: "https://example.com/article", title: "Article"},
		{name: "a body that breaks off", url: "https://example.com/cut", reason: Broken, failedURL: "https://example.com/cut"},
		{name: "no host", url: "https:///", reason: BadURL},
		{name: "another scheme", url: "ftp://example.com/", reason: BadURL},
		{name: "no scheme", url: "example.com", reason: BadURL},
		{name: "no URL", url: "http://exa mple.com:x/?key=secret", reason: BadURL},
		{name: "a private address", url: "http://10.0.0.1/", reason: Blocked},
		{name: "a private address of IPv6", url: "http://[::ffff:127.0.0.1]:8080/", reason: Blocked},
	}
	for _, mode := range []Mode{Auto, Always} {
		f := New(Options{Mode: mode, Transport: transport(site), UserAgent: UserAgent("1.2.3")})
		for _, tt := range tests {
			t.Run(string(mode)+"/"+tt.name, func(t *testing.T) {
				page, err := f.Fetch(t.Context(), tt.url)
				var failed *Error
				errors.As(err, &failed)
				switch {
				case tt.reason == "" && (err != nil || page.Title != tt.title):
					t.Errorf("title %q, error %v; want %q", page.Title, err, tt.title)
				case tt.reason != "" && (failed == nil || failed.Reason != tt.reason):
					t.Errorf("error %v, want reason %q", err, tt.reason)
				case tt.failedURL != "" && failed.URL != tt.failedURL:
					t.Errorf("failed URL %q, want %q", failed.URL, tt.failedURL)
				case err != nil && strings.Contains(err.Error(), "secret"):
					t.Errorf("error shows the query: %v", err)
				}
			})
		}
	}
}

func TestFetchStopsAtMaxBytes(t *testing.T) {
	f := New(Options{Transport: transport(site)})
	f.maxBytes = 1000
	page, err := f.Fetch(t.Context(), "https://example.com/long")
	if err != nil || page.Title != "Long" || strings.Contains(page.Text, "END") {
		t.Errorf("title %q, %d bytes of text, error %v", page.Title, len(page.Text), err)
	}
}

func TestFetchNever(t *testing.T) {
	f := New(Options{Mode: Never, Transport: transport(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, io.EOF
	})})
	if _, err := f.Fetch(t.Context(), "https://example.com/"); err != ErrNever {
		t.Errorf("error %v, want ErrNever", err)
	}
}

func TestFetchTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{Transport: transport(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})})
		start := time.Now()
		_, err := f.Fetch(t.Context(), "https://example.com/")
		var failed *Error
		if !errors.As(err, &failed) || failed.Reason != Timeout {
			t.Errorf("error %v, want reason %q", err, Timeout)
		}
		if took := time.Since(start); took != Limit {
			t.Errorf("took %v, want %v", took, Limit)
		}
	})
}

func TestFetchIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := New(Options{Transport: transport(func(req *http.Request) (*http.Response, error) {
		cancel()
		return nil, req.Context().Err()
	})})
	_, err := f.Fetch(ctx, "https://example.com/")
	var failed *Error
	if !errors.Is(err, context.Canceled) || !errors.As(err, &failed) || failed.Reason != Canceled {
		t.Errorf("error %v, want reason %q", err, Canceled)
	}
}

func TestFetchOverTheNetwork(t *testing.T) {
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaHTML)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, "<title>Bomb</title>")
		z.Write(bytes.Repeat([]byte("x "), 2<<20))
		z.Close()
	}
	server := httptest.NewServer(http.HandlerFunc(bomb))
	defer server.Close()

	t.Run("with the local network allowed", func(t *testing.T) {
		page, err := New(Options{AllowPrivate: true}).Fetch(t.Context(), server.URL)
		if err != nil || page.Title != "Bomb" || len(page.Text) > maxText {
			t.Errorf("title %q, %d bytes of text, error %v", page.Title, len(page.Text), err)
		}
	})
	t.Run("with an https URL on a plain port", func(t *testing.T) {
		_, err := New(Options{AllowPrivate: true}).Fetch(t.Context(), strings.Replace(server.URL, "http:", "https:", 1))
		var failed *Error
		if !errors.As(err, &failed) || failed.Reason != TLS && failed.Reason != Broken {
			t.Errorf("error %v, want reason %q", err, TLS)
		}
	})
	t.Run("with a certificate nobody signed", func(t *testing.T) {
		secure := httptest.NewUnstartedServer(http.HandlerFunc(bomb))
		secure.Config.ErrorLog = log.New(io.Discard, "", 0)
		secure.StartTLS()
		defer secure.Close()
		_, err := New(Options{AllowPrivate: true}).Fetch(t.Context(), secure.URL)
		var failed *Error
		if !errors.As(err, &failed) || failed.Reason != TLS {
			t.Errorf("error %v, want reason %q", err, TLS)
		}
	})
	t.Run("with a port nobody listens on", func(t *testing.T) {
		closed := httptest.NewServer(nil)
		closed.Close()
		_, err := New(Options{AllowPrivate: true}).Fetch(t.Context(), closed.URL)
		var failed *Error
		if !errors.As(err, &failed) || failed.Reason != Refused {
			t.Errorf("error %v, want reason %q", err, Refused)
		}
	})
}
