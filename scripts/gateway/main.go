// Command gateway runs several runs of bulkcat against one gateway that is killed many times, and checks
// what was paid.
//
//	go run ./scripts/gateway -bulkcat bin/bulkcat -requests 200000 -kills 20
//
// The exit status is 1 if an answer was paid twice, a row is wrong, or a figure is below its bound.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/bulkcat/bulkcat/scripts/gateway/proof"
)

func main() {
	var o proof.Options
	flag.StringVar(&o.Bulkcat, "bulkcat", "bin/bulkcat", "the program")
	flag.IntVar(&o.Clients, "clients", 8, "runs at once")
	flag.IntVar(&o.Requests, "requests", 200_000, "of all clients")
	flag.Float64Var(&o.Rate, "rate", 300, "of the upstream, in requests a second")
	flag.BoolVar(&o.Learn, "learn", false, "have the gateway learn the rate")
	flag.IntVar(&o.Kills, "kills", 20, "of the gateway")
	flag.DurationVar(&o.Between, "between", 18*time.Second, "kills, on average")
	used := flag.Float64("used", 0.95, "least share of the upstream's limit that is used; a short proof uses less, because clients start and end")
	flag.Uint64Var(&o.Seed, "seed", uint64(time.Now().UnixNano()), "of orders, faults and kills")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *used); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o proof.Options, used float64) error {
	var err error
	if o.Bulkcat, err = filepath.Abs(o.Bulkcat); err != nil {
		return err
	}
	if o.Dir, err = os.MkdirTemp("", "bulkcat-gateway-"); err != nil {
		return err
	}
	report, err := proof.Run(ctx, o)
	fmt.Print(report)
	err = errors.Join(err, report.Check(used, 0.7))
	if err != nil {
		return fmt.Errorf("%w; see %s", err, o.Dir)
	}
	return os.RemoveAll(o.Dir)
}
