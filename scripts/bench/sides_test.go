package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// TestSides runs both sides of a pair over the same records.
func TestSides(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go clienttest.Lean{}.Serve(l)
	dir := t.TempDir()
	path, err := input{kind: client.Website, records: 200}.write(dir)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	for name, side := range map[string]struct {
		run  mode
		args []string
	}{
		"bare loop": {bareMode, []string{"-url", url, "-records", "200", "-in-flight", "8"}},
		"whole run": {pipelineMode, []string{"-url", url, "-input", path, "-output", filepath.Join(dir, "out.csv"), "-in-flight", "8"}},
	} {
		t.Run(name, func(t *testing.T) {
			var (
				out bytes.Buffer
				got allocations
			)
			if err := side.run(t.Context(), side.args, &out); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Objects <= 0 || got.Bytes <= 0 {
				t.Errorf("got %s, %v", out.String(), err)
			}
		})
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("more than the input is left: %v, %v", entries, err)
	}
}

// The bare loop gets an answer in each protocol, and an error if the service speaks another
// protocol.
func TestBareLoopKeepsToItsProtocol(t *testing.T) {
	for _, spoken := range []clienttest.Protocol{clienttest.HTTP1, clienttest.HTTP1TLS, clienttest.HTTP2TLS} {
		url, caFile := startService(t, spoken)
		for _, wanted := range []clienttest.Protocol{clienttest.HTTP1TLS, clienttest.HTTP2TLS} {
			args := []string{"-url", url, "-records", "20", "-in-flight", "2", "-ca-file", caFile, "-protocol", wanted.String()}
			err := bareMode(t.Context(), args, io.Discard)
			if spoken.Major() == wanted.Major() {
				if err != nil {
					t.Errorf("a loop of %v beside a service of %v: %v", wanted, spoken, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "instead of "+wanted.String()) {
				t.Errorf("a loop of %v beside a service of %v: %v", wanted, spoken, err)
			}
		}
	}
}

// startService runs the service in its mode and returns its URL and its certificate
// authority, "" without TLS.
func startService(t *testing.T, protocol clienttest.Protocol) (url, caFile string) {
	t.Helper()
	if protocol.TLS() {
		caFile = filepath.Join(t.TempDir(), "ca.pem")
	}
	ctx, end := context.WithCancel(t.Context())
	output, stdout := io.Pipe()
	ended := make(chan error)
	go func() {
		ended <- serveMode(ctx, []string{"-protocol", protocol.String(), "-ca-file", caFile}, stdout)
		stdout.Close()
	}()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	url, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url), caFile
}

func TestServeNeedsAFileForTLS(t *testing.T) {
	args := []string{"-protocol", "HTTP/2 TLS"}
	if err := serveMode(t.Context(), args, io.Discard); err == nil {
		t.Error("the service runs without a file for its certificate")
	}
}

func TestCommand(t *testing.T) {
	t.Setenv("BULKCAT_STORE", "/elsewhere")
	e, err := command{env: []string{"BULKCAT_API_KEY=k"}, args: []string{"sh", "-c", "echo $BULKCAT_STORE$BULKCAT_API_KEY"}}.run(t.Context())
	if err != nil || string(e.said) != "k\n" {
		t.Errorf("it says %q, %v", e.said, err)
	}
	_, err = command{args: []string{"sh", "-c", "echo no good >&2; exit 3"}}.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 3: no good") {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (command{args: []string{"sleep", "60"}}).run(ended); err == nil {
		t.Error("it runs after the end")
	}
}
