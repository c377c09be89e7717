package lineage

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/notify"
)

var quiet = slog.New(slog.DiscardHandler)

func TestDatasetOf(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string][2]string{
		"out.parquet":             {"file", filepath.ToSlash(filepath.Join(here, "out.parquet"))},
		"/data/out/":              {"file", "/data/out"},
		"s3://bucket/a/b.parquet": {"s3://bucket", "a/b.parquet"},
		"s3://bucket/out/":        {"s3://bucket", "out"},
		"-":                       {},
		"":                        {},
	} {
		d, ok := datasetOf(place)
		if got := [2]string{d.Namespace, d.Name}; ok != (want[0] != "") || ok && got != want {
			t.Errorf("%q is %v, want %v", place, got, want)
		}
	}
}

func TestParent(t *testing.T) {
	for text, want := range map[string]string{
		"airflow/dag.task/01941f29-7c00-7087-8940-40e512c257bd": `{"job":{"name":"dag.task","namespace":"airflow"},"run":{"runId":"01941f29-7c00-7087-8940-40e512c257bd"}}`,
		"https://host/a/job/id":                                 `{"job":{"name":"job","namespace":"https://host/a"},"run":{"runId":"id"}}`,
		"job/id":                                                "",
		"id":                                                    "",
	} {
		parent, err := parseParent(text)
		if want == "" {
			if err == nil {
				t.Errorf("%q is accepted", text)
			}
			continue
		}
		if got, _ := json.Marshal(parent); string(got) != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestPost posts the events in their order, with the key, and again after an error of the receiver.
func TestPost(t *testing.T) {
	var mu sync.Mutex
	var states []string
	refused := false
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/api/v1/lineage" || r.Header.Get("Authorization") != "Bearer key-of-the-catalogue" {
			t.Errorf("%s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		var e event
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &e); err != nil {
			t.Error(err)
		}
		if !refused {
			refused = true
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		states = append(states, string(e.EventType)+" "+e.Run.ID)
	}))
	defer receiver.Close()
	e, err := New(Options{Place: receiver.URL, Log: quiet, Post: notify.Options{Bearer: "key-of-the-catalogue"}})
	if err != nil {
		t.Fatal(err)
	}
	facts := func() Facts { return Facts{Kind: "product", Output: "out.csv"} }
	e.Watch(facts)()
	e.Emit(Running, facts())
	e.Emit(Complete, facts())
	e.Close(context.Background())
	if got, want := strings.Join(states, ", "), "START "+e.id+", RUNNING "+e.id+", COMPLETE "+e.id; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "events.jsonl")
	for range 2 { // the second run appends
		e, err := New(Options{Place: place, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		e.Watch(func() Facts { return Facts{Kind: "website", Output: "-"} })()
		e.Close(context.Background())
	}
	content, err := os.ReadFile(place)
	if err != nil || strings.Count(string(content), "\n") != 2 {
		t.Errorf("%s, %v", content, err)
	}
	other := filepath.Join(dir, "domains.csv")
	if err := os.WriteFile(other, []byte("domain\nexample.com\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Place: other, Log: quiet}); err == nil || !strings.Contains(err.Error(), "has something else than events of OpenLineage") {
		t.Errorf("a file of something else: %v", err)
	}
	if _, err := New(Options{Place: "ftp://host", Log: quiet}); err == nil {
		t.Error("a URL of another scheme is accepted")
	}
}
