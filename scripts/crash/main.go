// Command crash kills bulkcat many times, at all moments of a run, and compares the final output
// with the output of an undisturbed run.
//
//	go run ./scripts/crash -bulkcat bin/bulkcat -kills 1000 -format all
//
// The exit status is 1 if an output, a store or the requests are wrong; the folders of failed
// cycles are kept.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/scripts/crash/loop"
)

func main() {
	options := loop.Options{}
	flag.StringVar(&options.Bulkcat, "bulkcat", "bin/bulkcat", "the program to kill")
	flag.IntVar(&options.Kills, "kills", 1000, "how often, over all formats")
	flag.IntVar(&options.Records, "records", 400, "of an input")
	flag.Uint64Var(&options.Seed, "seed", uint64(time.Now().UnixNano()), "of inputs, faults and moments")
	format := flag.String("format", "all", "csv, jsonl, parquet, folder, shards, free, copied or all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, options, *format); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, options loop.Options, format string) error {
	formats := loop.Formats
	if format != "all" {
		formats = []loop.Format{loop.Format(format)}
	}
	if !slices.Contains(loop.Formats, formats[0]) {
		return fmt.Errorf("-format: %q must be one of %v, or all", format, loop.Formats)
	}
	if options.Kills < 1 || options.Records < 1 {
		return fmt.Errorf("-kills and -records must be at least 1")
	}
	var err error
	if options.Bulkcat, err = filepath.Abs(options.Bulkcat); err != nil { // it runs in other folders
		return err
	}
	if options.Dir, err = os.MkdirTemp("", "bulkcat-crash-"); err != nil {
		return err
	}
	failed, kills, records := 0, options.Kills, options.Records
	for i, f := range formats {
		options.Format, options.Kills, options.Records = f, kills*(i+1)/len(formats)-kills*i/len(formats), records
		if f == loop.Copied { // its runs take seconds, so that there are copies before a kill
			options.Kills, options.Records = max(1, options.Kills/8), 5*records
		}
		if f == loop.Free { // of fewer records the audit would ask all
			options.Kills, options.Records = max(1, options.Kills/4), 4*records
		}
		report, err := loop.Run(ctx, options)
		fmt.Println(report.String())
		if err != nil {
			return err
		}
		failed += len(report.Failures)
	}
	if failed > 0 {
		return fmt.Errorf("%d cycles went wrong; see %s", failed, options.Dir)
	}
	return os.RemoveAll(options.Dir)
}
