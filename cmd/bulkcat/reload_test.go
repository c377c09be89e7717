package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded"
)

// At SIGHUP a service accepts the keys of the file, and keeps what they have used. A file that cannot be used changes nothing.
func TestKeysAreReadAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGHUP")
	}
	upstream := httptest.NewServer(unlimited())
	t.Cleanup(upstream.Close)
	for name, flags := range map[string][]string{
		"a service": {"--state", "used"},
		"a gateway": {"--upstream", upstream.URL, "--store", "answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(keys string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, "keys.txt"), []byte(keys), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("key-of-alice quota=3 name=alice\nkey-of-bob name=bob\n")
			p := start(t, bulkcatCommand(t, dir, "", append([]string{"serve", "--api-key-file", "keys.txt", "--addr", "127.0.0.1:0"}, flags...)...))
			match, err := p.AwaitLog(regexp.MustCompile(`serves (http://\S+)`))
			if err != nil {
				t.Fatal(err)
			}
			want := func(key, title string, status int) {
				t.Helper()
				request, err := http.NewRequest(http.MethodGet, match[1]+embedded.ProductPath+"?query="+title, nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("x-api-key", key)
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode != status {
					t.Errorf("%s asks for %s: status %d, want %d", key, title, response.StatusCode, status)
				}
			}
			want("key-of-alice", "sofa", 200)
			want("key-of-bob", "lamp", 200)
			want("key-of-carol", "hose", 401)

			write("key-of-alice quota=2 name=alice\nkey-of-carol name=carol\n")
			sendAfter(t, p, syscall.SIGHUP, "")
			if _, err := p.AwaitLog(regexp.MustCompile(`read again.*keys=2`)); err != nil {
				t.Fatal(err)
			}
			want("key-of-alice", "drill", 200)
			want("key-of-alice", "skillet", 402)
			want("key-of-bob", "chair", 401)
			want("key-of-carol", "hose", 200)

			write("key-of-bob\nkey-of-dave limit=6\n")
			sendAfter(t, p, syscall.SIGHUP, "")
			if _, err := p.AwaitLog(regexp.MustCompile(`stay as they are.*keys\.txt: line 2: word 2`)); err != nil {
				t.Fatal(err)
			}
			want("key-of-bob", "chair", 401)
			want("key-of-carol", "collar", 200)
			sendAfter(t, p, syscall.SIGTERM, "")
			wantStatus(t, p, exitComplete)
			if strings.Contains(p.Log(), "key-of-") {
				t.Errorf("the log has a key: %s", p.Log())
			}
		})
	}
}
