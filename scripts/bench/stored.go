package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// measureStore measures the cost of the store's disk, and a run with stored answers.
func (r *rig) measureStore(ctx context.Context, s scale, bareRate float64, t *report.Table) error {
	server, err := r.serve(ctx, clienttest.Lean{})
	if err != nil {
		return err
	}
	defer server.close()
	a := arm{url: server.url, cores: r.cores.client, inFlight: inFlight[1]}
	if err := r.measureDurability(ctx, a, s.rounds, recordsIn(bareRate, s.kept), t); err != nil {
		return err
	}
	return r.measureAnswered(ctx, a, s, bareRate, t)
}

// memoryDir is a file system in memory, where a durable commit costs nothing.
const memoryDir = "/dev/shm"

// measureDurability compares runs whose store is on the disk with runs whose store is in memory. Where there is
// no file system in memory, it measures nothing.
func (r *rig) measureDurability(ctx context.Context, a arm, rounds, records int, t *report.Table) (err error) {
	memory, err := os.MkdirTemp(memoryDir, "bulkcat-bench-")
	if err != nil {
		r.say("without the cost of the store's disk: %v", err)
		return nil
	}
	defer func() { err = errors.Join(err, os.RemoveAll(memory)) }()
	r.say("the store on the disk and in memory: %d records", records)
	a.input, a.format = input{kind: client.Website, records: records}, "csv"
	var onDisk, inMemory measurements
	for range rounds {
		for dir, sum := range map[string]*measurements{r.dir: &onDisk, memory: &inMemory} {
			a.store = filepath.Join(dir, "answers")
			e, err := r.run(ctx, a)
			if err != nil {
				return err
			}
			sum.add(e, records)
			if err := os.RemoveAll(a.store); err != nil {
				return err
			}
		}
	}
	lost := report.Ratios(onDisk.rate, inMemory.rate)
	for i := range lost {
		lost[i] = 1 - lost[i]
	}
	t.AddClaim("throughput lost to the disk of the store, at 0 ms", report.Claim{Sample: lost, Unit: report.Percent, Bound: report.AtMost(0.15)})
	return nil
}

// answeredTargets are records a second.
var answeredTargets = map[string]float64{"csv": 400_000, "parquet": 300_000}

// measureAnswered fills a store and measures runs with stored answers on both cores. Requests for
// all of their records would take minutes, so most answers are put into the store directly.
func (r *rig) measureAnswered(ctx context.Context, a arm, s scale, bareRate float64, t *report.Table) error {
	records := recordsIn(bareRate, s.stored)
	r.say("to fill a store: %d records", records)
	a.input, a.store = input{kind: client.Website, records: records}, r.output("answers")
	fill := a
	fill.format = "csv"
	if _, err := r.run(ctx, fill); err != nil {
		return err
	}
	size, err := sizeOf(a.store)
	if err != nil {
		return err
	}
	t.AddClaim("store on disk, of the raw answers' bytes", report.Claim{
		Sample: report.Sample{float64(size) / float64(answerBytes(records))}, Unit: report.Ratio, Bound: report.AtMost(1),
	})
	r.say("all inputs answered: %d records", s.answered)
	if err := topUp(a, records, s.answered); err != nil {
		return err
	}
	a.cores, a.input.records = r.cores.both(), s.answered
	var loop report.Sample
	again := make(map[string]*measurements)
	for _, format := range formats {
		again[format] = new(measurements)
	}
	for range s.rounds {
		rate, err := r.bareRate(ctx, recordsIn(bareRate, s.arm))
		if err != nil {
			return err
		}
		loop = append(loop, rate)
		for _, format := range formats {
			a.format = format
			e, err := r.run(ctx, a)
			if err != nil {
				return err
			}
			again[format].add(e, s.answered)
		}
	}
	for _, format := range formats {
		addTarget(t, "records whose answers are stored, on two cores, to "+format, again[format].rate, loop, answeredTargets[format])
	}
	return os.RemoveAll(a.store)
}

// topUp adds the answers to the websites from one number up to another.
func topUp(a arm, from, to int) (err error) {
	store, err := answers.Open(answers.Options{Dir: a.store, Source: a.url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	batch := store.NewBatch()
	normalizer := normalize.Normalizer{}
	now := time.Now()
	for number := from; number < to; number++ {
		request, err := normalizer.Request(client.Website, website(number), client.TaxonomyV3)
		if err != nil {
			return err
		}
		body := clienttest.AppendTypical(nil, client.TaxonomyV3, request.Input)
		batch.Add(request, answers.Outcome{Answer: client.Answer{Body: body, AnsweredAt: now}})
		if number%1024 == 1023 || number == to-1 {
			if err := batch.Commit(); err != nil {
				return err
			}
		}
	}
	return nil
}

// answerBytes is the size of the answers to the first websites.
func answerBytes(records int) (sum int64) {
	var body []byte
	for number := range records {
		body = clienttest.AppendTypical(body[:0], client.TaxonomyV3, website(number))
		sum += int64(len(body))
	}
	return sum
}

// sizeOf adds up the files of a folder.
func sizeOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
