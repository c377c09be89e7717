package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// foreign is a service whose parameters have other names and another place than the defaults.
type foreign struct {
	names    map[string]string // by operation; one that is not here does not work
	inJSON   bool
	nested   bool // the entries are in {"data": {...}}
	key      string
	requests atomic.Int64
}

func (s *foreign) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if r.Header.Get("X-Api-Key") != s.key {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if r.URL.Path == "/api/usage" {
		io.WriteString(w, `{"plan":"<pro>","remaining":"unlimited"}`)
		return
	}
	operation := strings.Split(r.URL.Path, "/")[3]
	params := make(map[string]string)
	if s.inJSON {
		_ = json.NewDecoder(r.Body).Decode(&params)
	} else {
		for name := range r.URL.Query() {
			params[name] = r.URL.Query().Get(name)
		}
	}
	if params[s.names[operation]] == "" {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"what?"}`)
		return
	}
	answer := fmt.Sprintf(`{%q:[{"value":"A > B","confidence":0.5}]}`, params["classification"])
	if s.nested {
		answer = `{"data":` + answer + `}`
	}
	io.WriteString(w, answer)
}

// cmdForeign starts the service: `foreign [json] website=NAME product=NAME`.
func cmdForeign(ts *testscript.TestScript, _ bool, args []string) {
	s := &foreign{names: make(map[string]string), key: ts.Getenv("KEY")}
	for _, arg := range args {
		if arg == "json" {
			s.inJSON = true
			continue
		}
		operation, name, _ := strings.Cut(arg, "=")
		s.names[operation] = name
	}
	server := httptest.NewServer(s)
	ts.Defer(server.Close)
	ts.Setenv("BULKCAT_BASE_URL", server.URL)
	ts.Setenv("BULKCAT_API_KEY", s.key)
	audits.Store(ts.Name(), &s.requests)
}

// audits count requests by script.
var audits sync.Map

// cmdRequests wants a number of requests since the last call.
func cmdRequests(ts *testscript.TestScript, _ bool, args []string) {
	audit, ok := audits.Load(ts.Name())
	if !ok {
		ts.Fatalf("no service that counts was started")
	}
	if got := audit.(*atomic.Int64).Swap(0); strconv.FormatInt(got, 10) != args[0] {
		ts.Fatalf("%d requests, want %s", got, args[0])
	}
}
