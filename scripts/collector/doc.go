// Package collector runs bulkcat against the OTLP receiver of the OpenTelemetry Collector. It is a module of its own, because the
// collector has many modules. BULKCAT is the path of the program.
//
//	BULKCAT=bin/bulkcat go test .
package collector
