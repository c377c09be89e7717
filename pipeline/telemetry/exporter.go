package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/x509"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/bulkcat/bulkcat/pipeline/notify"
)

// LastLimit is the longest time that the last messages delay the end of a run or service.
const LastLimit = 5 * time.Second

// Options describe an [Exporter]. Getenv and Log are required.
type Options struct {
	Getenv  func(string) string // os.Getenv, for the variables of OpenTelemetry
	Version string              // of the program
	RootCAs *x509.CertPool      // unless OTEL_EXPORTER_OTLP_CERTIFICATE names others; nil for the system's
	Log     *slog.Logger        // warnings
}

// Exporter sends telemetry. A nil Exporter sends none.
type Exporter struct {
	log             *slog.Logger
	resource        *resourcepb.Resource
	scope           *commonpb.InstrumentationScope
	metrics, traces *sender // nil for none
	sampling        sampling
	parent          *parent // of the run; nil for none
	tracer          *Tracer // nil without traces
	started         time.Time

	ctx     context.Context // of all messages
	cancel  context.CancelFunc
	closing chan struct{}
	loops   sync.WaitGroup
}

// New makes the exporter of a run or a service; nil if the variables say that nothing is sent.
func New(o Options) *Exporter {
	s := settings{o.Getenv, o.Log}
	if s.get("OTEL_SDK_DISABLED") == "true" {
		return nil
	}
	agent := "bulkcat/" + o.Version
	e := &Exporter{
		log: o.Log, started: time.Now(), closing: make(chan struct{}),
		metrics: s.sender("metrics", agent, o.RootCAs), traces: s.sender("traces", agent, o.RootCAs),
		scope: &commonpb.InstrumentationScope{Name: "bulkcat", Version: o.Version},
	}
	if e.metrics == nil && e.traces == nil {
		return nil
	}
	if e.metrics != nil {
		const interval = "OTEL_METRIC_EXPORT_INTERVAL"
		e.metrics.every = s.milliseconds(interval, s.get(interval), metricsEvery)
	}
	if e.traces != nil {
		e.traces.every = spansEvery
		e.parent = parseParent(s.get("TRACEPARENT"))
		e.sampling = s.sampling(e.parent)
	}
	e.resource = s.resource(o.Version)
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// resource describes the process. Two runs at the same time have different instances, and so different time series.
func (s settings) resource(version string) *resourcepb.Resource {
	const variable, service = "OTEL_RESOURCE_ATTRIBUTES", "service.name"
	given, err := pairs(s.get(variable))
	if err != nil {
		s.warn(variable, err)
	}
	all := append([][2]string{{service, "bulkcat"}, {"service.version", version}, {"service.instance.id", rand.Text()}}, given...)
	all = append(all, [2]string{service, cmp.Or(s.get("OTEL_SERVICE_NAME"), lastOf(all, service))})
	r := new(resourcepb.Resource)
	for i, pair := range all {
		if lastOf(all[i+1:], pair[0]) == "" { // no later value takes its place
			r.Attributes = append(r.Attributes, String(pair[0], pair[1]))
		}
	}
	return r
}

// lastOf is the last value of a name; "" if there is none.
func lastOf(list [][2]string, name string) (value string) {
	for _, pair := range list {
		if pair[0] == name {
			value = pair[1]
		}
	}
	return value
}

// SendsMetrics reports whether the exporter sends metrics.
func (e *Exporter) SendsMetrics() bool { return e != nil && e.metrics != nil }

// Gather sends the metrics of a source from now on, at intervals and at the end. The exporter sends metrics.
func (e *Exporter) Gather(source prometheus.Gatherer) {
	e.loops.Go(func() { e.metrics.loop(e, func() proto.Message { return e.metricsOf(source) }) })
}

// Trace begins the span of a run, and returns the tracer of its records; nil if no trace is sent.
func (e *Exporter) Trace(name string) *Tracer {
	if e == nil || e.traces == nil || !e.sampling.run {
		return nil
	}
	e.tracer = newTracer(name, e.parent, e.sampling)
	e.traces.early = e.tracer.many
	e.loops.Go(func() {
		e.traces.loop(e, func() proto.Message {
			spans := e.tracer.take()
			if len(spans) == 0 {
				return nil
			}
			return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
				Resource: e.resource, ScopeSpans: []*tracepb.ScopeSpans{{Scope: e.scope, Spans: spans}},
			}}}
		})
	})
	return e.tracer
}

// Close sends the last metrics and the spans that have ended, for LastLimit at most or until ctx ends.
func (e *Exporter) Close(ctx context.Context) {
	if e == nil {
		return
	}
	defer context.AfterFunc(ctx, e.cancel)()
	defer time.AfterFunc(LastLimit, e.cancel).Stop()
	close(e.closing)
	e.loops.Wait()
	e.cancel()
	for _, s := range []*sender{e.metrics, e.traces} {
		if s != nil {
			s.notifier.Close(e.ctx)
		}
	}
	if e.tracer != nil && e.tracer.dropped > 0 {
		e.log.Warn("more records had traces than could be sent: set a smaller OTEL_TRACES_SAMPLER_ARG", "dropped_spans", e.tracer.dropped)
	}
}

// sender sends the messages of one signal.
type sender struct {
	signal   string // metrics or traces
	notifier *notify.Notifier
	timeout  time.Duration // of a message
	gzip     bool
	every    time.Duration   // between two messages
	early    <-chan struct{} // receives when a message should not wait; nil for never
	log      *slog.Logger
	warned   bool
}

// loop sends messages until the exporter is closed, and then the last. The message is nil if there is nothing to send. Both
// messages have the fields of the requests of the protocol.
func (s *sender) loop(e *Exporter, message func() proto.Message) {
	ticker := time.NewTicker(s.every)
	defer ticker.Stop()
	for closing := false; !closing; {
		select {
		case <-ticker.C:
		case <-s.early:
		case <-e.closing:
			closing = true
		}
		if m := message(); m != nil {
			s.send(e.ctx, m)
		}
	}
}

// send sends a message. The first failure is a warning: a collector that is out would fill the log of a long run.
func (s *sender) send(ctx context.Context, message proto.Message) {
	body, err := proto.Marshal(message)
	if err == nil {
		if s.gzip {
			body = compress(body)
		}
		ctx, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		err = s.notifier.Deliver(ctx, "", body)
	}
	if err != nil && !s.warned {
		s.warned = true
		s.log.Warn("the collector of OpenTelemetry did not get all "+s.signal+"; further failures are not told", "error", err)
	}
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
