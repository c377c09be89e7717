package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/pipeline/telemetry"
	"github.com/bulkcat/bulkcat/pipeline/telemetry/telemetrytest"
)

// environment are variables of OpenTelemetry.
type environment map[string]string

// with are the variables and others.
func (e environment) with(others environment) environment {
	all := maps.Clone(e)
	maps.Copy(all, others)
	return all
}

// open makes an exporter, and returns its warnings.
func (e environment) open() (*telemetry.Exporter, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return telemetry.New(telemetry.Options{
		Getenv: func(name string) string { return e[name] }, Version: "v1", Log: slog.New(slog.NewTextHandler(log, nil)),
	}), log
}

const (
	endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	secret   = "s3cret-of-the-collector"
)

func to(url string) environment { return environment{endpoint: url} }

// TestVariables says what is sent with variables, and of which variable a warning tells. No warning has a value.
func TestVariables(t *testing.T) {
	const metrics, traces = "/v1/metrics", "/v1/traces"
	both := []string{metrics, traces}
	for name, tt := range map[string]struct {
		variables environment // the endpoint included if it starts with /
		sent      []string
		warning   string
	}{
		"nothing set":          {environment{endpoint: ""}, nil, ""},
		"an endpoint":          {nil, both, ""},
		"disabled":             {environment{"OTEL_SDK_DISABLED": "true"}, nil, ""},
		"no metrics":           {environment{"OTEL_METRICS_EXPORTER": "none"}, []string{traces}, ""},
		"no traces":            {environment{"OTEL_TRACES_EXPORTER": "none"}, []string{metrics}, ""},
		"no sample":            {environment{"OTEL_TRACES_SAMPLER": "always_off"}, []string{metrics}, ""},
		"another exporter":     {environment{"OTEL_TRACES_EXPORTER": "zipkin"}, []string{metrics}, "OTEL_TRACES_EXPORTER"},
		"gRPC":                 {environment{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, nil, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		"gRPC for metrics":     {environment{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc"}, []string{traces}, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"},
		"the protocol spoken":  {environment{"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, both, ""},
		"no URL":               {environment{endpoint: secret}, nil, endpoint},
		"a wrong URL":          {environment{endpoint: "http://[" + secret}, nil, endpoint},
		"compressed":           {environment{"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}, both, ""},
		"another compression":  {environment{"OTEL_EXPORTER_OTLP_COMPRESSION": secret}, both, "OTEL_EXPORTER_OTLP_COMPRESSION"},
		"headers without name": {environment{"OTEL_EXPORTER_OTLP_HEADERS": secret}, both, "OTEL_EXPORTER_OTLP_HEADERS"},
		"a wrong escape":       {environment{"OTEL_EXPORTER_OTLP_HEADERS": "a=%zz" + secret}, both, "OTEL_EXPORTER_OTLP_HEADERS"},
		"a wrong timeout":      {environment{"OTEL_EXPORTER_OTLP_TIMEOUT": "-1"}, both, "OTEL_EXPORTER_OTLP_TIMEOUT"},
		"a wrong interval":     {environment{"OTEL_METRIC_EXPORT_INTERVAL": "1s"}, both, "OTEL_METRIC_EXPORT_INTERVAL"},
		"a wrong sampler":      {environment{"OTEL_TRACES_SAMPLER": "xray"}, both, "OTEL_TRACES_SAMPLER"},
		"a wrong share":        {environment{"OTEL_TRACES_SAMPLER_ARG": "10%"}, both, "OTEL_TRACES_SAMPLER_ARG"},
		"wrong attributes":     {environment{"OTEL_RESOURCE_ATTRIBUTES": "team"}, both, "OTEL_RESOURCE_ATTRIBUTES"},
		"no such certificate":  {environment{"OTEL_EXPORTER_OTLP_CERTIFICATE": "none.pem"}, nil, "OTEL_EXPORTER_OTLP_CERTIFICATE"},
		"a client certificate": {environment{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "own.pem"}, both, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"},
	} {
		t.Run(name, func(t *testing.T) {
			receiver := telemetrytest.New(t)
			e, log := to(receiver.URL).with(tt.variables).open()
			if (e == nil) != (len(tt.sent) == 0) {
				t.Fatalf("the exporter is %v", e)
			}
			if e.SendsMetrics() {
				e.Gather(counters(t))
			}
			e.Trace("run").End(false)
			e.Close(t.Context())
			var sent []string
			for _, r := range receiver.Requests() {
				sent = append(sent, r.URL.Path)
			}
			if slices.Sort(sent); !slices.Equal(sent, tt.sent) {
				t.Errorf("sent to %v, want %v", sent, tt.sent)
			}
			if warnings := log.String(); tt.warning == "" && warnings != "" || !strings.Contains(warnings, "variable="+tt.warning) && tt.warning != "" || strings.Contains(warnings, secret) {
				t.Errorf("warnings: %s, want one of %q", warnings, tt.warning)
			}
		})
	}
}

// counters is a source with a counter.
func counters(t *testing.T) *prometheus.Registry {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "requests_total", Help: "Requests."}))
	return registry
}

// TestSignalsHavePlacesOfTheirOwn sends metrics and traces to different collectors, with different headers.
func TestSignalsHavePlacesOfTheirOwn(t *testing.T) {
	general, own := telemetrytest.New(t), telemetrytest.New(t)
	e, log := environment{
		endpoint: general.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20" + secret + ", other=1",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": own.URL + "/v1/traces", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "tenant=a",
		"OTEL_SERVICE_NAME": "shop", "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,team=a%2Cb,service.version=v2",
	}.open()
	e.Gather(counters(t))
	e.Trace("run").End(false)
	e.Close(t.Context())
	if log.Len() > 0 {
		t.Error(log)
	}
	if got := general.Requests(); len(got) != 1 || got[0].URL.Path != "/v1/metrics" || got[0].Header.Get("Authorization") != "Bearer "+secret || got[0].Header.Get("Other") != "1" {
		t.Errorf("metrics: %v", got)
	}
	if got := own.Requests(); len(got) != 1 || got[0].URL.Path != "/v1/traces" || got[0].Header.Get("Authorization") != "" || got[0].Header.Get("Tenant") != "a" {
		t.Errorf("traces: %v", got)
	}
	resource := own.Resource()
	if id, ok := resource["service.instance.id"].(string); !ok || id == "" {
		t.Errorf("the instance is %q", id)
	}
	delete(resource, "service.instance.id")
	if want := map[string]any{"service.name": "shop", "service.version": "v2", "team": "a,b"}; !maps.Equal(resource, want) {
		t.Errorf("the resource is %v, want %v", resource, want)
	}
}

const (
	parentTrace = "0af7651916cd43dd8448eb211c80319c"
	parentSpan  = "b7ad6b7169203331"
)

// TestSamplers counts the spans of runs and records.
func TestSamplers(t *testing.T) {
	sampled, unsampled := "00-"+parentTrace+"-"+parentSpan+"-01", "00-"+parentTrace+"-"+parentSpan+"-00"
	const records = 1000
	for name, tt := range map[string]struct {
		sampler, share, parent string
		run                    int
		least, most            int // of the records
		child                  bool
	}{
		"the default":                             {"", "", "", 1, 0, 20, false},
		"a share":                                 {"", "0.5", "", 1, 400, 600, false},
		"all by the share":                        {"", "1", "", 1, records, records, false},
		"none by the share":                       {"", "0", "", 0, 0, 0, false},
		"a ratio without a share":                 {"traceidratio", "", "", 1, records, records, false},
		"always on":                               {"always_on", "0.1", "", 1, records, records, false},
		"always off":                              {"always_off", "", "", 0, 0, 0, false},
		"based on no parent":                      {"parentbased_always_on", "", "", 1, records, records, false},
		"based on a sampled parent":               {"parentbased_traceidratio", "0.5", sampled, 1, 400, 600, true},
		"off, based on a sampled parent":          {"parentbased_always_off", "", sampled, 1, 0, 0, true},
		"based on a parent that is not sampled":   {"parentbased_always_on", "", unsampled, 0, 0, 0, false},
		"the default and an unsampled parent":     {"", "1", unsampled, 0, 0, 0, false},
		"not based on a parent":                   {"always_on", "", unsampled, 1, records, records, true},
		"an unknown sampler, unsampled parent":    {"jaeger_remote", "", unsampled, 0, 0, 0, false},
		"a parent of a later version":             {"always_on", "", "01-" + parentTrace + "-" + parentSpan + "-01-more", 1, records, records, true},
		"a parent of a version that is no such":   {"always_on", "", "ff" + sampled[2:], 1, records, records, false},
		"a parent with a part more":               {"always_on", "", sampled + "-more", 1, records, records, false},
		"a parent in capital letters":             {"always_on", "", strings.ToUpper(sampled), 1, records, records, false},
		"a parent without an id":                  {"always_on", "", "00-" + strings.Repeat("0", 32) + "-" + parentSpan + "-01", 1, records, records, false},
		"a parent with a short id":                {"always_on", "", "00-" + parentTrace[2:] + "-" + parentSpan + "-01", 1, records, records, false},
		"no parent, but a text":                   {"always_on", "", "parent", 1, records, records, false},
		"a parent with digits that are no digits": {"always_on", "", "00-" + strings.Repeat("x", 32) + "-" + parentSpan + "-01", 1, records, records, false},
	} {
		t.Run(name, func(t *testing.T) {
			receiver := telemetrytest.New(t)
			e, _ := to(receiver.URL).with(environment{"OTEL_TRACES_SAMPLER": tt.sampler, "OTEL_TRACES_SAMPLER_ARG": tt.share, "TRACEPARENT": tt.parent}).open()
			tracer := e.Trace("run")
			if tracer != nil {
				for range records {
					tracer.Begin(time.Now(), "look up").End(false)
				}
			}
			tracer.End(false)
			e.Close(t.Context())
			if n := len(receiver.Spans("record")); n < tt.least || n > tt.most {
				t.Errorf("%d records have traces, want %d to %d", n, tt.least, tt.most)
			}
			runs := receiver.Spans("run")
			if len(runs) != tt.run {
				t.Fatalf("%d spans of the run, want %d", len(runs), tt.run)
			}
			if tt.run > 0 {
				if got := hex.EncodeToString(runs[0].TraceId) == parentTrace && hex.EncodeToString(runs[0].ParentSpanId) == parentSpan; got != tt.child {
					t.Errorf("the run is a child of the parent: %t, want %t", got, tt.child)
				}
			}
		})
	}
}

// TestTrace sends one trace, whose spans follow each other.
func TestTrace(t *testing.T) {
	receiver := telemetrytest.New(t)
	e, _ := to(receiver.URL).with(environment{"OTEL_TRACES_SAMPLER": "always_on"}).open()
	tracer := e.Trace("run")
	trace := tracer.Begin(time.Now(), "look up")
	trace.Step("ask", telemetry.Int("attempt", 1))
	trace.Fail("503")
	trace.Step("ask")
	trace.End(true, telemetry.String("text", "not \xff UTF-8"))
	tracer.End(true, telemetry.Bool("ended", true))
	e.Close(t.Context())
	spans := receiver.Spans("")
	if len(spans) != 5 {
		t.Fatalf("%d spans: %v", len(spans), spans)
	}
	record, run := spans[0], spans[4]
	if got := record.Links[0]; !bytes.Equal(got.TraceId, run.TraceId) || !bytes.Equal(got.SpanId, run.SpanId) || bytes.Equal(record.TraceId, run.TraceId) {
		t.Errorf("the record has a link to %x, and the run is %x", got.SpanId, run.SpanId)
	}
	at := record.StartTimeUnixNano
	for i, s := range spans[1:4] {
		if s.StartTimeUnixNano != at || s.EndTimeUnixNano < at || !bytes.Equal(s.ParentSpanId, record.SpanId) || !bytes.Equal(s.TraceId, record.TraceId) {
			t.Errorf("the step %d is %v", i+1, s)
		}
		at = s.EndTimeUnixNano
	}
	if record.EndTimeUnixNano != at || record.Status.Code != 2 || run.Status.Code != 2 || spans[2].Status.Code != 2 || spans[3].Status != nil {
		t.Errorf("the record is %v", record)
	}
	for i, want := range []map[string]any{{"text": "not \ufffd UTF-8"}, {}, {"attempt": int64(1), "error.type": "503"}, {}, {"ended": true}} {
		if got := telemetrytest.Attributes(spans[i].Attributes); !maps.Equal(got, want) {
			t.Errorf("the attributes of %s are %v, want %v", spans[i].Name, got, want)
		}
	}
}

// TestMetrics sends metrics of every type.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "outcomes_total", Help: "Outcomes."}, []string{"outcome"})
	counter.WithLabelValues("answered").Add(3)
	counter.WithLabelValues("503").Add(2)
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "in_flight"})
	gauge.Set(-1.5)
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Buckets: []float64{1, 2}})
	for _, v := range []float64{0.5, 1.5, 1.5, 7} {
		histogram.Observe(v)
	}
	summary := prometheus.NewSummary(prometheus.SummaryOpts{Name: "pauses", Objectives: map[float64]float64{0.5: 0}})
	summary.Observe(4)
	untyped := prometheus.NewUntypedFunc(prometheus.UntypedOpts{Name: "untyped"}, func() float64 { return 8 })
	registry.MustRegister(counter, gauge, histogram, summary, untyped)
	receiver := telemetrytest.New(t)
	e, _ := to(receiver.URL).open()
	e.Gather(registry)
	e.Close(t.Context())

	sum := receiver.Metric("outcomes_total").GetSum()
	outcomes := make(map[any]float64)
	for _, p := range sum.GetDataPoints() {
		outcomes[telemetrytest.Attributes(p.Attributes)["outcome"]] = p.GetAsDouble()
		if p.StartTimeUnixNano == 0 || p.TimeUnixNano < p.StartTimeUnixNano {
			t.Errorf("the times are %d and %d", p.StartTimeUnixNano, p.TimeUnixNano)
		}
	}
	if want := map[any]float64{"answered": 3, "503": 2}; !maps.Equal(outcomes, want) || !sum.GetIsMonotonic() || sum.GetAggregationTemporality() != 2 {
		t.Errorf("the counter is %v", sum)
	}
	if got := receiver.Metric("in_flight").GetGauge().GetDataPoints(); len(got) != 1 || got[0].GetAsDouble() != -1.5 {
		t.Errorf("the gauge is %v", got)
	}
	h := receiver.Metric("seconds").GetHistogram().GetDataPoints()
	if len(h) != 1 || h[0].Count != 4 || h[0].GetSum() != 10.5 || !slices.Equal(h[0].BucketCounts, []uint64{1, 2, 1}) || !slices.Equal(h[0].ExplicitBounds, []float64{1, 2}) {
		t.Errorf("the histogram is %v", h)
	}
	if got := receiver.Metric("pauses").GetSummary().GetDataPoints(); len(got) != 1 || got[0].Count != 1 || got[0].Sum != 4 || got[0].QuantileValues[0].Value != 4 {
		t.Errorf("the summary is %v", got)
	}
	if got := receiver.Metric("untyped").GetGauge().GetDataPoints(); len(got) != 1 || got[0].GetAsDouble() != 8 {
		t.Errorf("the metric without a type is %v", got)
	}
}

// TestMetricsComeAtIntervals receives metrics while the run goes on.
func TestMetricsComeAtIntervals(t *testing.T) {
	came := make(chan struct{}, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came <- struct{}{} }))
	defer collector.Close()
	e, _ := to(collector.URL).with(environment{"OTEL_METRIC_EXPORT_INTERVAL": "10"}).open()
	e.Gather(counters(t))
	<-came
	<-came
	e.Close(t.Context())
}

// TestCollectorsThatFail end in bounded time, with one warning for each signal and without the secret.
func TestCollectorsThatFail(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	refusals := new(atomic.Int64)
	for name, tt := range map[string]struct {
		url       string
		answer    http.HandlerFunc // nil for the URL
		variables environment
		most      time.Duration
	}{
		"unreachable": {url: closed.URL, most: telemetry.LastLimit, variables: environment{"OTEL_EXPORTER_OTLP_TIMEOUT": "300"}},
		"refuses":     {answer: func(w http.ResponseWriter, _ *http.Request) { refusals.Add(1); w.WriteHeader(http.StatusUnauthorized) }, most: telemetry.LastLimit},
		"hangs":       {answer: hang, most: telemetry.LastLimit, variables: environment{"OTEL_EXPORTER_OTLP_TIMEOUT": "300"}},
		"hangs for longer than the last messages may take": {answer: hang, most: telemetry.LastLimit + 2*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := tt.url
			if tt.answer != nil {
				collector := httptest.NewServer(tt.answer)
				t.Cleanup(collector.Close)
				url = collector.URL
			}
			e, log := to(url).with(tt.variables).with(environment{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=" + secret, "OTEL_TRACES_SAMPLER": "always_on", "OTEL_METRIC_EXPORT_INTERVAL": "1"}).open()
			e.Gather(counters(t))
			tracer := e.Trace("run")
			began := time.Now()
			for range 100_000 { // more than there is place for
				tracer.Begin(began, "look up").End(false)
			}
			tracer.End(false)
			began = time.Now()
			e.Close(context.Background())
			if took := time.Since(began); took > tt.most {
				t.Errorf("the end took %v", took)
			}
			text := log.String()
			if n := strings.Count(text, "\n"); n != 3 || strings.Count(text, "did not get all") != 2 || !strings.Contains(text, "dropped_spans=") || strings.Contains(text, secret) {
				t.Errorf("%d warnings:\n%s", n, text)
			}
		})
	}
}

// hang answers nothing until the client has gone.
func hang(_ http.ResponseWriter, r *http.Request) {
	buffer := make([]byte, 1<<20)
	for { // the server sees the end of the connection once the body is read
		if _, err := r.Body.Read(buffer); err != nil {
			break
		}
	}
	<-r.Context().Done()
}

// TestCloseEndsWithItsContext does not wait for a collector that hangs.
func TestCloseEndsWithItsContext(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(hang))
	defer collector.Close()
	e, _ := to(collector.URL).open()
	e.Gather(counters(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	e.Close(ctx)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the end took %v", took)
	}
}

// FuzzVariables makes exporters of any variables.
func FuzzVariables(f *testing.F) {
	f.Add("http://127.0.0.1:4318", "authorization=a%20b,b=c", "00-"+parentTrace+"-"+parentSpan+"-01", "traceidratio", "0.5")
	f.Add("http://[", "=,%", "00--", "parentbased_", "NaN")
	f.Fuzz(func(t *testing.T, url, list, parent, sampler, share string) {
		e, log := environment{
			endpoint: url, "OTEL_EXPORTER_OTLP_HEADERS": list, "OTEL_RESOURCE_ATTRIBUTES": list, "TRACEPARENT": parent,
			"OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": share, "OTEL_METRICS_EXPORTER": "none",
		}.open()
		tracer := e.Trace("run")
		if tracer != nil {
			tracer.Begin(time.Now(), "look up").Step("ask")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is sent
		e.Close(ctx)
		if len(list) > 8 && strings.Contains(log.String(), list) {
			t.Errorf("a warning has the list %q: %s", list, log)
		}
	})
}
