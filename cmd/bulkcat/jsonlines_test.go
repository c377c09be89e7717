package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestJSONLines wants each line on standard error to be JSON, whatever it says.
func TestJSONLines(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	dir := t.TempDir()
	writeTitles(t, filepath.Join(dir, "in.txt"), 3)
	service := httptest.NewServer(unlimited())
	defer service.Close()
	hosted := []string{"BULKCAT_BASE_URL=" + service.URL, "BULKCAT_API_KEY=" + testKey}
	for _, tt := range []struct {
		name string
		args string
		env  []string
		want []string // messages, in this order
	}{
		{"embedded", "product in.txt -o a.csv --log-format json", nil, []string{"The embedded service answers, on this machine.", "To use a hosted one, set BULKCAT_BASE_URL and BULKCAT_API_KEY.", "summary"}},
		{"hosted", "product in.txt -o b.csv --log-format=json", hosted, []string{"summary"}},
		{"invalid", "website in.txt -o c.csv --log-format json --fetch never --strict", nil, []string{"summary", "in.txt:1: not a website"}},
		{"wrong key", "product in.txt -o d.csv --log-format json", append(hosted, "BULKCAT_API_KEY=wrong"), []string{"401"}},
		{"unknown flag", "product in.txt --no-such-flag --log-format json", nil, []string{"unknown flag: --no-such-flag\nRun 'bulkcat product --help' for usage"}},
		{"no input", "product --log-format json", nil, []string{"no input"}},
		{"in the environment", "product", []string{"BULKCAT_LOG_FORMAT=json"}, []string{"no input"}},
		{"no output", "product in.txt --log-format json", nil, []string{"no output"}},
		{"usage", "usage --log-format json", nil, []string{"The embedded service"}},
		{"partial", "product in.txt -o b.csv --partial --log-format json --store none --base-url " + service.URL, nil, []string{"none"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), bulkcat, strings.Fields(tt.args)...)
			var stderr strings.Builder
			cmd.Dir, cmd.Stderr = dir, &stderr
			cmd.Env = append(os.Environ(), tt.env...)
			_ = cmd.Run() // some fail
			var messages []string
			for line := range strings.Lines(stderr.String()) {
				var record struct{ Time, Level, Msg string }
				if err := json.Unmarshal([]byte(line), &record); err != nil || record.Time == "" || record.Level == "" {
					t.Errorf("no record of a log: %q: %v", line, err)
				}
				messages = append(messages, record.Msg)
			}
			for _, want := range tt.want {
				i := 0
				for i < len(messages) && !strings.Contains(messages[i], want) {
					i++
				}
				if i == len(messages) {
					t.Fatalf("%q does not come, or not in its place, in\n%s", want, stderr.String())
				}
				messages = messages[i:]
			}
		})
	}
}

// TestNothingSteersTheTerminal asks a service that sends control characters wherever it can.
func TestNothingSteersTheTerminal(t *testing.T) {
	const escape = "\x1b]0;title\a\u009b31m"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := json.Marshal(escape)
		if r.URL.Path == "/api/usage" {
			_, _ = w.Write([]byte(`{"plan":` + string(text) + `,"remaining":` + string(text) + `}`))
			return
		}
		switch r.URL.Query().Get("query") {
		case "refused":
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"error":` + string(text) + `}`))
		case "raw":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte("HTTP/1.1 " + escape + "\r\n\r\n"))
				conn.Close()
			}
		case "page":
			_, _ = w.Write([]byte("<html>" + escape))
		default:
			_, _ = w.Write([]byte(`{"product_taxonomy":[{"value":"A > B"}]}`))
		}
	}))
	defer service.Close()
	bulkcat := selfAsBulkcat(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("good\nrefused\nraw\npage\nalso "+escape+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"usage", "usage --json", "product in.txt --dry-run", "probe",
		"product in.txt -o out.csv --max-attempts 1 --debug",
		"product in.txt -o json.csv --max-attempts 1 --debug --log-format json",
		"website in.txt -o invalid.csv --strict", "product in.txt -o no-such-folder" + escape + "/out.csv",
	} {
		cmd := exec.CommandContext(t.Context(), bulkcat, strings.Fields(args)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service.URL, "BULKCAT_API_KEY="+testKey)
		out, _ := cmd.CombinedOutput() // some fail
		if len(out) == 0 {
			t.Errorf("bulkcat %q says nothing", args)
		}
		steers := func(r rune) bool { return unicode.IsControl(r) && r != '\n' || r == '\u009b' }
		for line := range strings.Lines(string(out)) {
			if strings.ContainsFunc(line, steers) {
				t.Errorf("bulkcat %q steers the terminal: %q", args, line)
			}
		}
	}
}
