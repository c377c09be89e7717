package live

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestForeignNamesAreRefused asks as a browser does that has loaded a page of a name, which then resolves to this machine.
func TestForeignNamesAreRefused(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.http.Close() })
	handler := forName("Runs.example.com:9464", s.routes())
	for host, want := range map[string]int{
		"127.0.0.1:9464":        http.StatusOK,
		"127.0.0.1":             http.StatusOK,
		"[::1]:9464":            http.StatusOK,
		"[::1]":                 http.StatusOK,
		"192.0.2.7:9464":        http.StatusOK, // no name can be made to mean an address
		"localhost:9464":        http.StatusOK,
		"LOCALHOST.":            http.StatusOK,
		"runs.example.com:9464": http.StatusOK,
		"":                      http.StatusOK, // HTTP/1.0: no browser
		"rebound.example:9464":  http.StatusMisdirectedRequest,
		"example.com":           http.StatusMisdirectedRequest,
		"localhost.example.com": http.StatusMisdirectedRequest,
		"127.0.0.1.example.com": http.StatusMisdirectedRequest,
		"0x7f000001":            http.StatusMisdirectedRequest,
		"a:b:c":                 http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"/", "/status.json", "/metrics", "/page.js", healthPath} {
			request := httptest.NewRequest(http.MethodGet, path, nil)
			request.Host = host
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if path == healthPath {
				want = http.StatusOK
			}
			if answer.Code != want {
				t.Errorf("%q%s: got %d, want %d", host, path, answer.Code, want)
			}
		}
	}
}
