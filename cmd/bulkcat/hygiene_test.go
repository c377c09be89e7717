package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// indiscreet is a service that repeats the key, and the token of another secret header, in all parts of its
// responses. The title of a product selects the response.
type indiscreet struct {
	elsewhere string // another host

	mu   sync.Mutex
	seen map[string]bool // titles
}

func (s *indiscreet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Api-Key")
	secrets := key + " " + r.Header.Get("Authorization")
	w.Header().Set("X-Account", secrets)
	w.Header().Set("RateLimit", secrets)
	if r.Header.Get("Authorization") == "" || r.Header.Get("X-Tenant") != "acme" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if r.URL.Path == "/api/usage" {
		fmt.Fprintf(w, `{"plan":%q,"remaining":"unlimited","key":%q}`, secrets, key)
		return
	}
	title := r.URL.Query().Get("query") + r.URL.Query().Get("url")
	switch {
	case title == "rejected":
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprintf(w, `{"error":{"message":"not with %s"}}`, secrets)
	case title == "page":
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "<html>%s?key=%s</html>", strings.Repeat(" ", 1020), url.QueryEscape(secrets))
	case title == "again" && s.first(title):
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, secrets)
	case title == "redirected":
		http.Redirect(w, r, s.elsewhere+"/"+url.PathEscape(secrets), http.StatusTemporaryRedirect)
	case title == "forbidden":
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, secrets)
	default:
		fmt.Fprintf(w, `{%q:[{"value":"A > B","confidence":0.5}],"account":%q}`, r.URL.Query().Get("classification"), secrets)
	}
}

func (s *indiscreet) first(title string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.seen[title]
	s.seen[title] = true
	return first
}

// cmdIndiscreet starts the service with TLS and HTTP/2, and writes ca.pem.
func cmdIndiscreet(ts *testscript.TestScript, _ bool, _ []string) {
	strayed := new(atomic.Int64)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	ts.Defer(other.Close)
	audits.Store(ts.Name(), strayed)
	server := httptest.NewUnstartedServer(&indiscreet{elsewhere: other.URL, seen: make(map[string]bool)})
	server.EnableHTTP2 = true
	server.StartTLS()
	ts.Defer(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), authority, 0o666))
	ts.Setenv("BULKCAT_BASE_URL", server.URL)
	ts.Setenv("BULKCAT_API_KEY", ts.Getenv("KEY"))
}

// cmdTells searches all files below a folder for texts.
func cmdTells(ts *testscript.TestScript, neg bool, args []string) {
	files, found := 0, ""
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for _, secret := range args[1:] {
			if bytes.Contains(text, []byte(secret)) {
				found = fmt.Sprintf("%s tells %q", path, secret)
			}
		}
		return err
	}))
	switch {
	case files == 0:
		ts.Fatalf("there are no files in %s", args[0])
	case neg && found != "":
		ts.Fatalf("%s", found)
	case !neg && found == "":
		ts.Fatalf("%d files tell nothing", files)
	}
}
