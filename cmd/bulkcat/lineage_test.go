//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded"
)

// TestLineageOfStarts interrupts a run, kills it, completes it, and runs it once more: all starts until the end of the
// first complete run are one run of OpenLineage.
func TestLineageOfStarts(t *testing.T) {
	dir := t.TempDir()
	writeTitles(t, filepath.Join(dir, "in.txt"), 20)
	args := []string{"product", "in.txt", "-o", "out.csv", "--workers", "1", "--grace", "0", "--lineage", "events.jsonl"}
	asked, release, answers := make(chan struct{}, 1), make(chan struct{}), unlimited()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != embedded.UsagePath {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-release
		}
		answers.ServeHTTP(w, r)
	}))
	defer service.Close()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		p := start(t, bulkcatCommand(t, dir, service.URL, args...))
		<-asked
		if err := p.Signal(sig); err != nil {
			t.Fatal(err)
		}
		p.Status()
	}
	close(release)
	for range 2 {
		wantStatus(t, start(t, bulkcatCommand(t, dir, service.URL, args...)), exitComplete)
	}
	content, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var states, ids []string
	for line := range bytes.Lines(content) {
		var e struct {
			EventType string `json:"eventType"`
			Run       struct {
				ID string `json:"runId"`
			} `json:"run"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		states, ids = append(states, e.EventType), append(ids, e.Run.ID)
	}
	if want := []string{"START", "ABORT", "START", "START", "COMPLETE", "START", "COMPLETE"}; !slices.Equal(states, want) {
		t.Fatalf("got %q, want %q", states, want)
	}
	if one, other := ids[0], ids[5]; one == other || !slices.Equal(ids, []string{one, one, one, one, one, other, other}) {
		t.Errorf("the ids are %q", ids)
	}
}
