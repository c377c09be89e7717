package main

import (
	"slices"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// There is a row for each situation, with the targets of its latency.
func TestPairs(t *testing.T) {
	rows := make(map[clienttest.Protocol]int)
	for _, p := range pairs(full) {
		rows[p.service.Protocol] += len(p.formats)
		rate, cpu := atLeast(0.50), atMost(2.00)
		if p.service.Latency > 0 {
			rate, cpu = atLeast(0.98), atMost(1.60)
		}
		if p.rate != rate || p.cpu != cpu {
			t.Errorf("%v: wanted are %v and %v", p.service, p.rate, p.cpu)
		}
		if p.rounds < 1 || p.arm < time.Second || p.inFlight < 1 {
			t.Errorf("%v: %d rounds of %v, %d in flight", p.service, p.rounds, p.arm, p.inFlight)
		}
	}
	for protocol, want := range map[clienttest.Protocol]int{clienttest.HTTP1: 8, clienttest.HTTP1TLS: 2, clienttest.HTTP2TLS: 2} {
		if rows[protocol] != want {
			t.Errorf("%v: got %d rows, want %d", protocol, rows[protocol], want)
		}
	}
}

func TestPairRecords(t *testing.T) {
	for name, test := range map[string]struct {
		pair pair
		want int
	}{
		"at once": {pair{inFlight: 64, arm: 2 * time.Second}, 80_000},
		"as the latency allows": {
			pair{service: clienttest.Lean{Latency: 50 * time.Millisecond}, inFlight: 64, arm: 10 * time.Second}, 12_800,
		},
		"no faster than the loop": {
			pair{service: clienttest.Lean{Latency: time.Millisecond}, inFlight: 64, arm: time.Second}, 40_000,
		},
	} {
		if got := test.pair.records(40_000); got != test.want {
			t.Errorf("%s: got %d records, want %d", name, got, test.want)
		}
	}
}

func TestPairRow(t *testing.T) {
	p := pair{
		service:  clienttest.Lean{Latency: 50 * time.Millisecond, Spread: 20 * time.Millisecond, Protocol: clienttest.HTTP2TLS},
		inFlight: 256, rate: atLeast(0.98), cpu: atMost(1.40),
	}
	whole := measurements{rate: sample{99}, cpu: sample{15e-6}, peak: sample{1 << 20}}
	loop := measurements{rate: sample{100}, cpu: sample{10e-6}}
	var got table
	p.addRow(&got, "csv", whole, loop)
	want := []string{"HTTP/2 TLS", "50 ± 20 ms", "256", "csv", "99", "0.99", "at least 0.98: met",
		"15.0 µs", "1.50", "at most 1.40: **not met**", "1.0 MiB"}
	if !slices.Equal(got.rows[0], want) {
		t.Errorf("got %q, want %q", got.rows[0], want)
	}
}

func TestServiceArgs(t *testing.T) {
	for name, test := range map[string]struct {
		arm  arm
		want []string
	}{
		"plain":    {arm{inFlight: 64}, []string{"--workers", "64", "--rate", "0"}},
		"TLS":      {arm{inFlight: 64, caFile: "ca.pem"}, []string{"--workers", "64", "--rate", "0", "--ca-file", "ca.pem"}},
		"learning": {arm{inFlight: 256, learns: true}, []string{"--workers", "256"}},
	} {
		if got := test.arm.serviceArgs(); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
