package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// pair compares bulkcat with the bare loop in one situation.
type pair struct {
	service   clienttest.Lean
	inFlight  int
	formats   []string // of bulkcat's output, one row each
	arm       time.Duration
	rounds    int
	rate, cpu bound // of bulkcat's over the loop's
}

var (
	formats  = []string{"csv", "parquet"}
	inFlight = []int{64, 256}
)

const (
	distance       = 50 * time.Millisecond // of a service across a network
	distanceSpread = 20 * time.Millisecond
)

// pairs are all situations in the order of the table. With TLS, each latency has one row: TLS
// changes the cost of connections, and the rows of plain HTTP/1.1 show the formats.
func pairs(s scale) []pair {
	near := pair{
		formats: formats, arm: s.arm, rounds: s.rounds,
		rate: atLeast(0.50), cpu: atMost(2.00),
	}
	far := pair{
		service: clienttest.Lean{Latency: distance, Spread: distanceSpread},
		formats: formats, arm: s.distantArm, rounds: s.distantRounds,
		rate: atLeast(0.98), cpu: atMost(1.60),
	}
	nearTLS, farTLS := near, far
	nearTLS.formats, nearTLS.arm, nearTLS.rounds = []string{"csv"}, s.secureArm, s.secureRounds
	farTLS.formats = []string{"csv"}
	few, many := inFlight[0], inFlight[1]
	return []pair{
		near.with(clienttest.HTTP1, few),
		near.with(clienttest.HTTP1, many),
		far.with(clienttest.HTTP1, few),
		far.with(clienttest.HTTP1, many),
		nearTLS.with(clienttest.HTTP1TLS, few),
		farTLS.with(clienttest.HTTP1TLS, many),
		nearTLS.with(clienttest.HTTP2TLS, few),
		farTLS.with(clienttest.HTTP2TLS, many),
	}
}

// with returns the pair with a protocol and a number of requests in flight.
func (p pair) with(protocol clienttest.Protocol, inFlight int) pair {
	p.service.Protocol, p.inFlight = protocol, inFlight
	return p
}

// records returns the number of records of an arm. bareRate is the rate of the loop without latency. With latency, the number of
// requests in flight limits the rate.
func (p pair) records(bareRate float64) int {
	if p.service.Latency > 0 {
		bareRate = min(bareRate, float64(p.inFlight)/p.service.Latency.Seconds())
	}
	return recordsIn(bareRate, p.arm)
}

// measurePairs measures all situations.
func (r *rig) measurePairs(ctx context.Context, s scale, bareRate float64) (*table, error) {
	t := &table{
		title: "bulkcat against a bare loop of net/http and encoding/json (CSV in; asked, stored durably, flattened, ordered, written)",
		head: []string{"protocol", "latency", "in flight", "output", "records/s", "of the loop's", "wanted",
			"CPU a record", "of the loop's", "wanted", "peak memory"},
	}
	for _, p := range pairs(s) {
		if err := r.measurePair(ctx, p, p.records(bareRate), t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// measurePair adds a row for each format.
func (r *rig) measurePair(ctx context.Context, p pair, records int, t *table) error {
	r.say("the bare loop and bulkcat: %v, latency %v, %d in flight, %d records", p.service.Protocol, p.service.Latency, p.inFlight, records)
	server, err := r.serve(ctx, p.service)
	if err != nil {
		return err
	}
	defer server.close()
	var loop measurements
	arms := make([]arm, len(p.formats))
	for i, format := range p.formats {
		arms[i] = arm{
			url: server.url, caFile: server.caFile, cores: clientCore, inFlight: p.inFlight, format: format,
			input: input{kind: client.Website, records: records},
		}
	}
	whole, err := r.rounds(ctx, p.rounds, func() error {
		e, err := r.bare(ctx, server, records, p.inFlight)
		loop.add(e, records)
		return err
	}, arms...)
	if err != nil {
		return err
	}
	for i, format := range p.formats {
		p.addRow(t, format, whole[i], loop)
	}
	return nil
}

func (p pair) addRow(t *table, format string, whole, loop measurements) {
	rate, cpu := claim{ratios(whole.rate, loop.rate), ratio, p.rate}, claim{ratios(whole.cpu, loop.cpu), ratio, p.cpu}
	latency := "0 ms"
	if p.service.Latency > 0 {
		latency = fmt.Sprintf("%d ± %d ms", p.service.Latency.Milliseconds(), p.service.Spread.Milliseconds())
	}
	t.add(p.service.Protocol.String(), latency, strconv.Itoa(p.inFlight), format, count.format(whole.rate.median()), rate.figure(), rate.status(),
		microseconds.format(whole.cpu.median()), cpu.figure(), cpu.status(), mebibytes.format(whole.peak.median()))
}
