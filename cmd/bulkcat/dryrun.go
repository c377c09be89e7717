package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
)

// forecast reads the whole input and says what a run would do. It asks for nothing but
// the account's usage, which is free.
func (f *runFlags) forecast(ctx context.Context, svc service, input *reader.Reader, log *slog.Logger) error {
	parts := pipeline.Parts{Source: input, Counters: new(pipeline.Counters)}
	if stored, ok := f.store.options(f.output.path, svc.source); ok {
		store, err := stores.Look(stored) // a dry run makes no store, and changes none
		if _, missing := errors.AsType[*answers.MissingError](err); err != nil && !missing {
			return err
		}
		if store != nil {
			defer store.Close() // only read from
			parts.Store = store.Store
		}
	}
	options := pipeline.Options{
		Kind: f.kind, Classifications: f.asked(),
		Normalizer: client.Normalizer{Scheme: f.scheme}, BySite: f.dedupe == pipeline.DedupeSite, Limit: f.limit,
	}
	forecast, err := pipeline.DryRun(ctx, parts, options)
	if err != nil {
		return err
	}
	quota := newQuota(svc, parts.Counters, log)
	if err := quota.check(ctx); err != nil {
		return err
	}
	f.printForecast(forecast, quota.usage)
	return nil
}

// compareNeed tells, before a metered run, what it needs and what is left. The input is
// read once more for it, which takes seconds where the run takes hours; a pipe cannot be.
func (f *runFlags) compareNeed(ctx context.Context, quota *quota, store *answers.Store, options pipeline.Options) error {
	if slices.Contains(f.input.Paths, "-") {
		return nil
	}
	left, _ := quota.usage.Requests()
	if most, ok := f.mostRequests(); ok && most <= left {
		quota.log.Info("the account has enough left", "left", left)
		return nil
	}
	again := f.input
	again.Log = nil // the run itself tells
	input, err := again.open(f.kind, nil)
	if err != nil {
		return err
	}
	defer input.Close() // only read from
	forecast, err := pipeline.DryRun(ctx, pipeline.Parts{Source: input, Store: store, Counters: new(pipeline.Counters)}, options)
	if err != nil {
		return err
	}
	if forecast.ToAsk() > left {
		quota.log.Warn("the account does not have enough left: the run will stop, resumable", "to_be_asked", forecast.ToAsk(), "left", left)
		return nil
	}
	quota.log.Info("the account has enough left", "left", left)
	return nil
}

// mostRequests is a number of requests that the run does not exceed: that of the input's lines
// in each classification.
// To count them takes a hundredth of the time of reading the records and looking them up.
// false where the lines cannot be counted, for a file is compressed or cannot be read.
func (f *runFlags) mostRequests() (most int64, ok bool) {
	for _, file := range f.input.Paths {
		lines, ok := countLines(file)
		if !ok {
			return 0, false
		}
		most += lines
	}
	if f.limit > 0 {
		most = min(most, f.limit)
	}
	return most * int64(len(f.classifications())), true
}

func countLines(path string) (lines int64, ok bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return 0, false // a pattern, perhaps, or a pipe
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer file.Close() // only read from
	lines = 1          // the last may have no end
	buf := make([]byte, 256<<10)
	for first := true; ; first = false {
		n, err := file.Read(buf)
		if first && isCompressed(buf[:n]) {
			return 0, false
		}
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}) + bytes.Count(buf[:n], []byte{'\r'}))
		if err != nil {
			return lines, errors.Is(err, io.EOF)
		}
	}
}

// isCompressed says whether a file begins as gzip or zstd does.
func isCompressed(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

func (f *runFlags) printForecast(c pipeline.Forecast, usage client.Usage) {
	out := f.streams.text()
	line := func(name string, value any) { fmt.Fprintf(out, "%-18s %v\n", name, value) }
	line("records", c.Records)
	line("invalid", c.Invalid)
	line("distinct requests", c.Distinct)
	line("already answered", c.Answered)
	line("to be asked", c.ToAsk())
	if f.kind == client.Website {
		line("dedupe site saves", c.Saved)
	}
	if usage.Remaining != "" {
		line("quota left", usage.Remaining)
	}
	if left, ok := usage.Requests(); ok && left < c.ToAsk() {
		line("quota missing", c.ToAsk()-left)
	}
	if f.pace.rate.limited() {
		seconds := float64(c.ToAsk()) / float64(rate.Limit(f.pace.rate))
		line("time at the rate", time.Duration(seconds*float64(time.Second)).Round(time.Second))
	}
}
