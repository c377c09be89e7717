// Package telemetry sends the metrics of a run or of a service, and traces of a run, to a collector of OpenTelemetry: by
// OTLP over HTTP, in Protocol Buffers, as the variables of OpenTelemetry say. Without these variables nothing is started.
//
// Terms: a *signal* is metrics or traces. A *span* is a piece of work with its start and its end. A *trace* is the spans
// of one record: one of the record, and one for each of its steps. The run has a span of its own, to which the traces have
// links: a trace of all records would be too large for most programs that show traces.
//
// No collector slows or ends a run: what it does not take is dropped, with a warning.
package telemetry
