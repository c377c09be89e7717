package telemetry

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const (
	mostSpans = 8192 // that wait to be sent; some MB
	manySpans = 2048 // that do not wait for the next interval
)

// Attribute is an attribute of a span or a resource.
type Attribute = *commonpb.KeyValue

// String is an attribute with a text, which is valid UTF-8 as the protocol wants.
func String(key, value string) Attribute {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.ToValidUTF8(value, "\ufffd")}}}
}

// Int is an attribute with a number.
func Int(key string, value int64) Attribute {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

// Bool is an attribute with a truth value.
func Bool(key string, value bool) Attribute {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: value}}}
}

// parent is the span that has started the run.
type parent struct {
	trace, span []byte
	sampled     bool
}

// parseParent reads a traceparent (W3C Trace Context §3.2.2); nil if it is not valid, as the specification says.
func parseParent(text string) *parent {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) > 4 {
		return nil
	}
	var raw [4][]byte
	for i, size := range []int{1, 16, 8, 1} {
		var err error
		if raw[i], err = hex.DecodeString(parts[i]); err != nil || len(raw[i]) != size || strings.ToLower(parts[i]) != parts[i] {
			return nil
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return nil
	}
	return &parent{raw[1], raw[2], raw[3][0]&1 == 1}
}

// Tracer makes the traces of the records of a run. It is safe for concurrent use. A nil Tracer makes none.
type Tracer struct {
	run   *tracepb.Span
	bound uint64        // of a half of the ids of traces
	many  chan struct{} // of capacity 1

	mu      sync.Mutex
	ended   []*tracepb.Span
	dropped int64 // spans for which there was no place
}

func newTracer(name string, p *parent, s sampling) *Tracer {
	run := newSpan(name, random(16), time.Now())
	if p != nil {
		run.TraceId, run.ParentSpanId = p.trace, p.span
	}
	return &Tracer{run: run, bound: s.bound(), many: make(chan struct{}, 1)}
}

// newSpan makes a span that begins now. The spans of this program are sampled all, as their flags say.
func newSpan(name string, trace []byte, began time.Time) *tracepb.Span {
	return &tracepb.Span{Name: name, TraceId: trace, SpanId: random(8), Kind: tracepb.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: uint64(began.UnixNano()), Flags: 1}
}

// random makes an id of so many bytes.
func random(size int) (id []byte) {
	for len(id) < size {
		id = binary.BigEndian.AppendUint64(id, rand.Uint64())
	}
	return id
}

// End ends the span of the run.
func (t *Tracer) End(failed bool, attributes ...Attribute) {
	if t != nil {
		endSpan(t.run, failed, attributes)
		t.add(t.run)
	}
}

func endSpan(s *tracepb.Span, failed bool, attributes []Attribute) {
	s.EndTimeUnixNano = uint64(time.Now().UnixNano())
	s.Attributes = append(s.Attributes, attributes...)
	if failed {
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	}
}

// add keeps spans until they are sent.
func (t *Tracer) add(spans ...*tracepb.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ended)+len(spans) > mostSpans && len(spans) > 1 { // there is always a place for the span of the run
		t.dropped += int64(len(spans))
		return
	}
	t.ended = append(t.ended, spans...)
	if len(t.ended) >= manySpans {
		select {
		case t.many <- struct{}{}:
		default:
		}
	}
}

// take removes the spans that are to be sent.
func (t *Tracer) take() []*tracepb.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	spans := t.ended
	t.ended = nil
	return spans
}

// Trace is the trace of one record. Only the goroutine that holds the record uses it. A nil Trace does nothing.
type Trace struct {
	tracer *Tracer
	spans  []*tracepb.Span // of the record and of its steps
}

// Begin begins the trace of a record with its first step; nil unless the record is in the sample.
func (t *Tracer) Begin(began time.Time, step string) *Trace {
	low := rand.Uint64()
	if low>>1 >= t.bound {
		return nil
	}
	id := binary.BigEndian.AppendUint64(random(8), low) // the half that decides, as in the sampler of OpenTelemetry
	record := newSpan("record", id, began)
	record.Links = []*tracepb.Span_Link{{TraceId: t.run.TraceId, SpanId: t.run.SpanId, Flags: 1}}
	trace := &Trace{tracer: t, spans: []*tracepb.Span{record}}
	trace.step(step, began)
	return trace
}

// Step ends the step before, and begins another.
func (t *Trace) Step(name string, attributes ...Attribute) {
	if t != nil {
		now := time.Now()
		t.last().EndTimeUnixNano = uint64(now.UnixNano())
		t.step(name, now)
		t.Set(attributes...)
	}
}

func (t *Trace) step(name string, began time.Time) {
	s := newSpan(name, t.spans[0].TraceId, began)
	s.ParentSpanId = t.spans[0].SpanId
	t.spans = append(t.spans, s)
}

func (t *Trace) last() *tracepb.Span { return t.spans[len(t.spans)-1] }

// Set adds attributes to the step.
func (t *Trace) Set(attributes ...Attribute) {
	if t != nil {
		t.last().Attributes = append(t.last().Attributes, attributes...)
	}
}

// Fail marks the step as failed, with the type of the error.
func (t *Trace) Fail(kind string) {
	if t != nil {
		t.last().Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
		t.Set(String("error.type", kind))
	}
}

// End ends the step and the trace.
func (t *Trace) End(failed bool, attributes ...Attribute) {
	if t != nil {
		endSpan(t.spans[0], failed, attributes)
		t.last().EndTimeUnixNano = t.spans[0].EndTimeUnixNano
		t.tracer.add(t.spans...)
	}
}
