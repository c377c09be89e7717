package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// measureStore measures the cost of the store's disk, and a run with stored answers.
func (r *rig) measureStore(ctx context.Context, s scale, bareRate float64, t *table) error {
	server, err := r.serve(ctx, clienttest.Lean{})
	if err != nil {
		return err
	}
	defer server.close()
	a := arm{url: server.url, cores: clientCore, inFlight: inFlight[1], format: "csv"}
	a.input = input{kind: client.Website, records: recordsIn(bareRate, s.kept)}
	if err := r.measureDurability(ctx, a, s.rounds, t); err != nil {
		return err
	}
	a.input.records = recordsIn(bareRate, s.stored)
	return r.measureAnswered(ctx, a, s, bareRate, t)
}

// memoryDir is a file system in memory, where a durable commit costs nothing.
const memoryDir = "/dev/shm"

// measureDurability compares runs whose store is on the disk with runs whose store is in memory. It measures nothing on a system
// without a file system in memory.
func (r *rig) measureDurability(ctx context.Context, a arm, rounds int, t *table) (err error) {
	memory, err := os.MkdirTemp(memoryDir, "bulkcat-bench-")
	if err != nil {
		r.say("without the cost of the store's disk: %v", err)
		return nil
	}
	defer func() { err = errors.Join(err, os.RemoveAll(memory)) }()
	r.say("the store on the disk and in memory: %d records", a.input.records)
	onDisk, inMemory := a, a
	onDisk.store, inMemory.store = filepath.Join(r.dir, "answers"), filepath.Join(memory, "answers")
	empty := func() error { return errors.Join(os.RemoveAll(onDisk.store), os.RemoveAll(inMemory.store)) }
	sides, err := r.rounds(ctx, rounds, empty, onDisk, inMemory)
	if err != nil {
		return err
	}
	lost := ratios(sides[0].rate, sides[1].rate)
	for i := range lost {
		lost[i] = 1 - lost[i]
	}
	t.addClaim("throughput lost to the disk of the store, at 0 ms", claim{lost, percent, atMost(0.15)})
	return empty()
}

// answeredTargets are target rates by format, in records per second.
var answeredTargets = map[string]float64{"csv": 120_000, "parquet": 120_000}

// measureAnswered fills a store and measures runs with stored answers on both cores.
func (r *rig) measureAnswered(ctx context.Context, a arm, s scale, bareRate float64, t *table) error {
	r.say("to fill a store, and with all inputs answered: %d records", a.input.records)
	a.store = r.output("answers")
	if _, err := r.run(ctx, a); err != nil {
		return err
	}
	stored, err := os.Stat(a.store)
	if err != nil {
		return err
	}
	t.addClaim("store on disk, of the raw answers' bytes", claim{sample{float64(stored.Size()) / float64(answerBytes(a.input.records))}, ratio, atMost(2.5)})
	a.cores = bothCores
	arms := make([]arm, len(formats))
	for i, format := range formats {
		arms[i], arms[i].format = a, format
	}
	again, loop, err := r.beside(ctx, s, bareRate, arms...)
	if err != nil {
		return err
	}
	for i, format := range formats {
		addTarget(t, "records whose answers are stored, on two cores, to "+format, again[i].rate, loop, answeredTargets[format])
	}
	return os.RemoveAll(a.store)
}

// answerBytes returns the size of the answers to the first websites, in bytes.
func answerBytes(records int) (sum int64) {
	var body []byte
	for number := range records {
		body = clienttest.AppendTypical(body[:0], client.TaxonomyV3, website(number))
		sum += int64(len(body))
	}
	return sum
}
