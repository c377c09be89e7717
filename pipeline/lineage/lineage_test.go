package lineage

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/notify"
	"github.com/bulkcat/bulkcat/pipeline/record"
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
		"s3://bucket/in/*.csv":    {"s3://bucket", "in/*.csv"},
		"/feeds/day=*/a?.csv":     {"file", "/feeds"},
		"/feeds/[ab].csv":         {"file", "/feeds"},
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

// TestStartIsFirst emits the end of a run that has not begun to ask.
func TestStartIsFirst(t *testing.T) {
	place := filepath.Join(t.TempDir(), "events.jsonl")
	e, err := New(Options{Place: place, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	e.Emit(Fail, Facts{Kind: "website", Output: "out.csv", Error: "no key"})
	content, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	var states []State
	for line := range bytes.Lines(content) {
		var got event
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		states = append(states, got.EventType)
	}
	if !slices.Equal(states, []State{Start, Fail}) {
		t.Errorf("got %q", states)
	}
}

// TestWarnsOnce fails to deliver three events, to a file and to a receiver.
func TestWarnsOnce(t *testing.T) {
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	for name, place := range map[string]string{
		"file": filepath.Join(t.TempDir(), "none", "events.jsonl"),
		"URL":  strings.Replace(receiver.URL, "://", "://user:s3cret@", 1),
	} {
		var log bytes.Buffer
		e, err := New(Options{Place: place, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range []State{Start, Running, Complete} {
			e.Emit(state, Facts{Kind: "website", Output: "-"})
		}
		e.Close(t.Context())
		if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "event=START") || strings.Contains(got, "s3cret") {
			t.Errorf("%s: the log is %q", name, got)
		}
	}
}

func TestRunID(t *testing.T) {
	first := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)
	account := func(hours int, earlier ...record.Ending) string {
		a := record.NewAccount("test", "embedded", record.Settings{Kind: "product"})
		a.Started = first.Add(time.Duration(hours) * time.Hour)
		for i, ending := range earlier {
			a.Earlier = append(a.Earlier, record.EarlierRun{Started: first.Add(time.Duration(i) * time.Hour), Ending: ending})
		}
		return RunID(a)
	}
	want := account(0)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(want) {
		t.Errorf("%s is no UUID of version 8", want)
	}
	stopped := record.Ending(record.Interrupted)
	for name, tt := range map[string]struct {
		got  string
		same bool
	}{
		"started again":                {account(1, stopped), true},
		"twice":                        {account(2, stopped, record.Failed), true},
		"after a complete run":         {account(1, record.Complete), false},
		"stopped after a complete run": {account(2, record.Complete, stopped), false},
		"another time":                 {account(1), false},
	} {
		if (tt.got == want) != tt.same {
			t.Errorf("%s: got %s, the first start has %s", name, tt.got, want)
		}
	}
	if account(1, record.Complete) != account(2, record.Complete, stopped) {
		t.Error("the starts after a complete run have several ids")
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
