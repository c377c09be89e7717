package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

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

func TestComplete(t *testing.T) {
	t.Setenv("BULKCAT_STORE", "/elsewhere")
	r := &rig{dir: t.TempDir()}
	e, err := r.complete(t.Context(), "0", []string{"BULKCAT_API_KEY=k"}, "sh", "-c", `test "$BULKCAT_STORE$BULKCAT_API_KEY" = k`)
	if err != nil || e.wall <= 0 {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := r.complete(t.Context(), "0", nil, "sh", "-c", "echo no good >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3: no good") {
		t.Errorf("got %v", err)
	}
}

// TestRounds runs arms whose program is a script.
func TestRounds(t *testing.T) {
	dir := t.TempDir()
	r := &rig{dir: dir, bulkcat: filepath.Join(dir, "bulkcat")}
	if err := os.WriteFile(r.bulkcat, []byte("#!/bin/sh\necho $1 >>"+dir+"/order\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := 0
	all, err := r.rounds(t.Context(), 2, func() error { before++; return nil },
		arm{cores: "0", input: input{kind: client.Website, records: 10}}, arm{cores: "0", input: input{kind: client.Product, records: 20}})
	order, _ := os.ReadFile(filepath.Join(dir, "order"))
	if err != nil || before != 2 || string(order) != "website\nproduct\nwebsite\nproduct\n" || len(all) != 2 || len(all[0].rate) != 2 || len(all[1].cpu) != 2 {
		t.Errorf("%d rounds, %q, %+v, %v", before, order, all, err)
	}
}
