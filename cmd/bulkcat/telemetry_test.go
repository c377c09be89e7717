//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/telemetry"
	"github.com/bulkcat/bulkcat/pipeline/telemetry/telemetrytest"
	"github.com/bulkcat/bulkcat/scripts/process"
)

const collectorSecret = "s3cret-of-the-collector"

// startTraced starts a run over a file of titles, which sends all traces to a collector.
func startTraced(t *testing.T, dir, collector, service string, args ...string) *process.Process {
	t.Helper()
	cmd := bulkcatCommand(t, dir, service, append([]string{"product", "in.txt", "-o", "out.csv", "--quiet"}, args...)...)
	cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20"+collectorSecret,
		"OTEL_TRACES_SAMPLER=always_on", "TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	return start(t, cmd)
}

// steps are the names of the steps of each record, by the number of the record, and those of an attempt with their attributes.
func steps(receiver *telemetrytest.Receiver) map[int64]string {
	all := make(map[int64]string)
	spans := receiver.Spans("")
	for _, r := range receiver.Spans("record") {
		var names []string
		for _, s := range spans {
			if bytes.Equal(s.ParentSpanId, r.SpanId) {
				names = append(names, strings.TrimSpace(s.Name+" "+describe(s)))
			}
		}
		all[telemetrytest.Attributes(r.Attributes)["bulkcat.record"].(int64)] = strings.Join(names, ", ")
	}
	return all
}

// describe gives the attributes of a span, in the order of their names.
func describe(s *tracepb.Span) string {
	attributes, texts := telemetrytest.Attributes(s.Attributes), []string{}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		texts = append(texts, fmt.Sprint(attributes[name]))
	}
	return strings.Join(texts, " ")
}

// TestTelemetryOfARun wants the metrics of the account and the traces of all records, and the secret nowhere else.
func TestTelemetryOfARun(t *testing.T) {
	receiver := telemetrytest.New(t)
	service := httptest.NewServer(clienttest.New(clienttest.Options{Key: testKey, Fails: func(input string, attempt int) clienttest.Fault {
		if input == "Desk lamp" && attempt == 1 {
			return clienttest.Error503
		}
		return ""
	}}))
	t.Cleanup(service.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("Garden hose\nDesk lamp\nDesk lamp\nN/A\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := startTraced(t, dir, receiver.URL, service.URL, "--on-end", "env > env.txt")
	wantStatus(t, p, exitUnanswered)
	for _, r := range receiver.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer "+collectorSecret {
			t.Errorf("the collector gets the header %q", got)
		}
	}
	wantNoSecret(t, dir, p)
	want := map[int64]string{
		1: "look up, wait, ask 200, commit",
		2: "look up, wait, ask 503 503, wait, ask 1 200, commit",
		3: "look up, wait true",
		4: "look up",
	}
	if got := steps(receiver); !maps.Equal(got, want) {
		t.Errorf("the steps are %v, want %v", got, want)
	}
	if text := fmt.Sprint(receiver.Spans("")); strings.Contains(text, "Desk lamp") {
		t.Errorf("a span has an input: %s", text)
	}
	runs := receiver.Spans("bulkcat product")
	if len(runs) != 1 || fmt.Sprintf("%x", runs[0].ParentSpanId) != "b7ad6b7169203331" {
		t.Fatalf("the spans of the run are %v", runs)
	}
	account := new(record.Account)
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "out.csv.run.json"))), account); err != nil {
		t.Fatal(err)
	}
	attributes := map[string]any{"bulkcat.ending": "complete", "bulkcat.run": account.RunID(), "bulkcat.records": int64(4), "bulkcat.requests": int64(3)}
	if got := telemetrytest.Attributes(runs[0].Attributes); !maps.Equal(got, attributes) {
		t.Errorf("the attributes of the run are %v, want %v", got, attributes)
	}
	for name, want := range map[string]float64{"bulkcat_run_requests_total": 3, "bulkcat_run_retries_total": 1} {
		if got := receiver.Metric(name).GetSum().GetDataPoints(); len(got) != 1 || got[0].GetAsDouble() != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := receiver.Metric("bulkcat_run_request_duration_seconds").GetHistogram().GetDataPoints(); len(got) != 1 || got[0].Count != 3 {
		t.Errorf("the durations are %v", got)
	}
	if got := receiver.Metric("bulkcat_run_state").GetGauge().GetDataPoints(); len(got) != 1 || telemetrytest.Attributes(got[0].Attributes)["state"] != string(record.Ended) {
		t.Errorf("the state is %v", got)
	}

	again := telemetrytest.New(t)
	wantStatus(t, startTraced(t, dir, again.URL, service.URL), exitUnanswered)
	for _, r := range again.Spans("record") {
		a := telemetrytest.Attributes(r.Attributes)
		if stored := a["bulkcat.status"] == "ok"; a["bulkcat.stored"] != stored || a["bulkcat.attempts"] != int64(0) || a["bulkcat.line"] != a["bulkcat.record"] || a["bulkcat.classification"] != "product_taxonomy" {
			t.Errorf("a record of the second run has %v", a)
		}
	}
	if n := len(again.Spans("record")); n != 4 || len(again.Spans("ask")) != 0 {
		t.Errorf("the second run has the traces of %d records, and asks %d times", n, len(again.Spans("ask")))
	}
}

// wantNoSecret wants no secret of the collector in what a run has left and printed, the environment of its command included.
func wantNoSecret(t *testing.T, dir string, p *process.Process) {
	t.Helper()
	files := map[string]string{"standard error": p.Log()}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files[path] = read(t, path)
		}
		return err
	})
	if err != nil || files[filepath.Join(dir, "env.txt")] == "" {
		t.Fatalf("the files of the run are %v, %v", slices.Collect(maps.Keys(files)), err)
	}
	for name, content := range files {
		if strings.Contains(content, collectorSecret) {
			t.Errorf("%s has the secret", name)
		}
	}
}

// TestTelemetryOfInterruptedRuns ends a run in bounded time, although its collector hangs.
func TestTelemetryOfInterruptedRuns(t *testing.T) {
	t.Parallel() // it mostly waits
	backend := clienttest.New(clienttest.Options{Fails: func(string, int) clienttest.Fault { return clienttest.Hang }})
	asked := backend.After(1)
	service := httptest.NewServer(backend)
	t.Cleanup(service.Close)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = new(bytes.Buffer).ReadFrom(r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(collector.Close)
	dir := t.TempDir()
	writeTitles(t, filepath.Join(dir, "in.txt"), 20)
	p := startTraced(t, dir, collector.URL, service.URL, "--grace", "100ms")
	select {
	case <-asked:
	case <-p.Ended():
		t.Fatal(p.Log())
	}
	began := time.Now()
	if err := p.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, p, exitInterrupted)
	if took := time.Since(began); took > telemetry.LastLimit+3*time.Second {
		t.Errorf("the run ended after %v", took)
	}
	if log := p.Log(); strings.Count(log, "did not get all") != 2 || strings.Contains(log, collectorSecret) {
		t.Errorf("the run prints:\n%s", log)
	}
}

// TestTelemetryOfAService receives the metrics of a service.
func TestTelemetryOfAService(t *testing.T) {
	receiver := telemetrytest.New(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "keys.txt"), []byte(testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := bulkcatCommand(t, dir, "", "serve", "--addr", "127.0.0.1:0", "--api-key-file", "keys.txt")
	cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+receiver.URL)
	p := start(t, cmd)
	url, err := p.AwaitLog(regexp.MustCompile(`http://\S+`))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url[0]+"/api/usage", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-API-Key", testKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Logf("the service ends with %v", err)
	}
	requests := 0.0
	for _, point := range receiver.Metric("bulkcat_service_requests_total").GetSum().GetDataPoints() {
		if telemetrytest.Attributes(point.Attributes)["operation"] == "usage" {
			requests += point.GetAsDouble()
		}
	}
	if requests != 1 {
		t.Errorf("%v requests were received, want 1", requests)
	}
}

// TestNoTelemetryWithoutItsVariables makes no exporter, so that nothing is started.
func TestNoTelemetryWithoutItsVariables(t *testing.T) {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, value) // restored at the end
			os.Unsetenv(name)
		}
	}
	if e := newExporter(nil, nil); e != nil || e.SendsMetrics() || e.Trace("run") != nil {
		t.Errorf("the exporter is %v", e)
	}
}
