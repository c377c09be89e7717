package collector

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// TestCollector has the receiver of a collector take the metrics of a run, and a trace of each record.
func TestCollector(t *testing.T) {
	bulkcat := os.Getenv("BULKCAT")
	if bulkcat == "" {
		t.Fatal("set BULKCAT to the program")
	}
	bulkcat, err := filepath.Abs(bulkcat)
	if err != nil {
		t.Fatal(err)
	}
	metrics, traces := new(consumertest.MetricsSink), new(consumertest.TracesSink)
	address := receive(t, metrics, traces)

	const records = 40
	dir := t.TempDir()
	var titles strings.Builder
	for i := range records {
		fmt.Fprintf(&titles, "leather sofa %d\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "titles.txt"), []byte(titles.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	service, stop := clienttest.New(clienttest.Options{}).Listen()
	defer stop()
	cmd := exec.CommandContext(t.Context(), bulkcat, "product", "titles.txt", "-o", "out.csv")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+address, "OTEL_TRACES_SAMPLER=always_on", "OTEL_SERVICE_NAME=night",
		"BULKCAT_BASE_URL="+service, "BULKCAT_API_KEY=any")
	if text, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(text), "WARN") {
		t.Fatalf("%v\n%s", err, text)
	}

	if got := value(metrics, "bulkcat_run_records"); got != records {
		t.Errorf("the metric of records is %v, want %d", got, records)
	}
	names := make(map[string]int)
	for _, batch := range traces.AllTraces() {
		for _, resource := range batch.ResourceSpans().All() {
			if name, _ := resource.Resource().Attributes().Get("service.name"); name.Str() != "night" {
				t.Errorf("the service is called %q", name.Str())
			}
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					names[span.Name()]++
				}
			}
		}
	}
	for _, name := range []string{"look up", "wait", "ask", "commit"} {
		if names[name] != records {
			t.Errorf("%d spans %q, want %d", names[name], name, records)
		}
	}
	t.Logf("%d metrics, spans: %v", metrics.DataPointCount(), names)
}

// receive starts the receiver of a collector, which ends with the test, and returns its address.
func receive(t *testing.T, metrics *consumertest.MetricsSink, traces *consumertest.TracesSink) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil { // the receiver listens there
		t.Fatal(err)
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	settings := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": address}}})
	if err := settings.Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	of := receivertest.NewNopSettings(factory.Type())
	forMetrics, err := factory.CreateMetrics(t.Context(), of, config, metrics)
	if err != nil {
		t.Fatal(err)
	}
	forTraces, err := factory.CreateTraces(t.Context(), of, config, traces)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []component.Component{forMetrics, forTraces} { // both are one receiver
		if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
		})
	}
	return address
}

// value is the last value of a metric.
func value(sink *consumertest.MetricsSink, name string) (last float64) {
	for _, batch := range sink.AllMetrics() {
		for _, resource := range batch.ResourceMetrics().All() {
			for _, scope := range resource.ScopeMetrics().All() {
				for _, metric := range scope.Metrics().All() {
					if metric.Name() == name {
						last = metric.Gauge().DataPoints().At(0).DoubleValue()
					}
				}
			}
		}
	}
	return last
}
