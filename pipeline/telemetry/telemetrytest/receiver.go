// Package telemetrytest has a collector of OpenTelemetry for tests.
package telemetrytest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Receiver takes OTLP over HTTP, in Protocol Buffers, and keeps all of it.
type Receiver struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	requests []*http.Request
	resource *resourcepb.Resource
	metrics  []*metricspb.Metric
	spans    []*tracepb.Span
}

// New starts a receiver, which ends with the test. Requests that are not of the protocol fail the test.
func New(t *testing.T) *Receiver {
	r := &Receiver{t: t}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *Receiver) receive(w http.ResponseWriter, request *http.Request) {
	if err := r.take(request); err != nil {
		r.t.Errorf("%s %s: %v", request.Method, request.URL, err)
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (r *Receiver) take(request *http.Request) error {
	body, err := bodyOf(request)
	if err != nil {
		return err
	}
	if kind := request.Header.Get("Content-Type"); request.Method != http.MethodPost || kind != "application/x-protobuf" {
		return fmt.Errorf("the content type is %q", kind)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
	switch request.URL.Path {
	case "/v1/metrics":
		var m collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, rm := range m.GetResourceMetrics() {
			r.resource, r.metrics = rm.GetResource(), nil // the newest are all that there are
			for _, sm := range rm.GetScopeMetrics() {
				r.metrics = append(r.metrics, sm.GetMetrics()...)
			}
		}
	case "/v1/traces":
		var m collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, rs := range m.GetResourceSpans() {
			r.resource = rs.GetResource()
			for _, ss := range rs.GetScopeSpans() {
				r.spans = append(r.spans, ss.GetSpans()...)
			}
		}
	default:
		return fmt.Errorf("there is no such path")
	}
	return nil
}

func bodyOf(request *http.Request) ([]byte, error) {
	if request.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(request.Body)
	}
	z, err := gzip.NewReader(request.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// Requests are the requests so far, without bodies.
func (r *Receiver) Requests() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Resource is the newest resource, by the names of its attributes.
func (r *Receiver) Resource() map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Attributes(r.resource.GetAttributes())
}

// Metric is a metric as it was sent last; nil if it never was.
func (r *Receiver) Metric(name string) *metricspb.Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.metrics, func(m *metricspb.Metric) bool { return m.GetName() == name })
	if i < 0 {
		return nil
	}
	return r.metrics[i]
}

// Spans are the spans so far of a name, or all for "".
func (r *Receiver) Spans(name string) (list []*tracepb.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if name == "" || s.GetName() == name {
			list = append(list, s)
		}
	}
	return list
}

// Attributes are attributes by their names: texts, numbers and truth values.
func Attributes(list []*commonpb.KeyValue) map[string]any {
	all := make(map[string]any)
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.GetKey()] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			all[a.GetKey()] = v.IntValue
		case *commonpb.AnyValue_BoolValue:
			all[a.GetKey()] = v.BoolValue
		}
	}
	return all
}
