package flow

import (
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/telemetry"
	"github.com/bulkcat/bulkcat/writer"
)

// The steps of a task, which are the spans of its trace. No span has the input, which belongs to the user.
const (
	stepLookUp = "look up"
	stepWait   = "wait" // for a permit, a retry, an equal request, or whether a rejection holds
	stepAsk    = "ask"
	stepCommit = "commit"
)

// trace begins the traces of the tasks that are in the sample. A task without a trace has a nil one, which does nothing.
func (r *run) trace(tasks []*task) {
	if r.Tracer == nil {
		return
	}
	now := time.Now()
	for _, t := range tasks {
		t.trace = r.Tracer.Begin(now, stepLookUp)
	}
}

// joined says that a task waits for an equal request.
func (t *task) joined() {
	if t.trace != nil {
		t.trace.Step(stepWait, telemetry.Bool("bulkcat.joined", true))
	}
}

// traceAttempt adds how an attempt ended to its span. Parked, the task waits again.
func (t *task) traceAttempt(answer client.Answer, err error) {
	if t.trace == nil {
		return
	}
	status := answer.Status
	if e, ok := errors.AsType[*client.Error](err); ok {
		status = e.Status
		t.trace.Fail(e.Label())
	} else if err != nil {
		t.trace.Fail("canceled")
	}
	if status != 0 {
		t.trace.Set(telemetry.Int("http.response.status_code", int64(status)))
	}
	if retries := t.Made() - 1; retries > 0 {
		t.trace.Set(telemetry.Int("http.request.resend_count", int64(retries)))
	}
	if err != nil {
		t.trace.Step(stepWait)
	}
}

// endTrace ends the trace of a task that has its status.
func (t *task) endTrace(o *Options, status writer.Status) {
	if t.trace == nil {
		return
	}
	t.trace.End(t.err != nil,
		telemetry.Int("bulkcat.record", t.record.Number), telemetry.Int("bulkcat.line", t.record.Line),
		telemetry.String("bulkcat.classification", o.Classifications[t.class].Name),
		telemetry.String("bulkcat.status", string(status)), telemetry.Bool("bulkcat.stored", t.recalled),
		telemetry.Int("bulkcat.attempts", int64(t.Made())))
	t.trace = nil
}
