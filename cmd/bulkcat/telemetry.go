package main

import (
	"context"
	"crypto/x509"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/telemetry"
)

// newExporter makes the exporter of OpenTelemetry; nil if its variables are not set.
func newExporter(rootCAs *x509.CertPool, log *slog.Logger) *telemetry.Exporter {
	return telemetry.New(telemetry.Options{Getenv: os.Getenv, Version: version(), RootCAs: rootCAs, Log: log})
}

// openTelemetry begins the span of the run.
func (f *runFlags) openTelemetry(ctx context.Context) (*telemetry.Exporter, error) {
	rootCAs, err := f.service.rootCAs(ctx)
	if err != nil {
		return nil, err
	}
	exporter := newExporter(rootCAs, f.Log)
	f.Tracer = exporter.Trace("bulkcat " + string(f.Kind))
	return exporter, nil
}

// endTelemetry ends the span of the run, and sends what is left.
func (f *runFlags) endTelemetry(ctx context.Context, exporter *telemetry.Exporter, err error) {
	ending := endingOf(err)
	attributes := []telemetry.Attribute{telemetry.String("bulkcat.ending", string(ending))}
	if a := f.account; a != nil {
		attributes = append(attributes, telemetry.String("bulkcat.run", a.RunID()),
			telemetry.Int("bulkcat.records", a.Counts.Settled()), telemetry.Int("bulkcat.requests", a.Counts.Requests))
	}
	f.Tracer.End(ending == record.Failed, attributes...)
	last, cancel := f.endings.endContext(ctx)
	defer cancel()
	exporter.Close(last)
}

// sendMetrics sends the metrics of a service until ended is called.
func sendMetrics(options *embedded.ServerOptions, log *slog.Logger) (ended func()) {
	exporter := newExporter(nil, log)
	if exporter.SendsMetrics() {
		if options.Metrics == nil {
			options.Metrics = prometheus.NewRegistry()
		}
		exporter.Gather(options.Metrics)
	}
	return func() { exporter.Close(context.Background()) }
}
