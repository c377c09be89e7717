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
	shares := flag.Bool("shares", true, "check how much of the upstream's limit is used, and how fairly: not in a short proof, whose clients start and end all the time")
	flag.Uint64Var(&o.Seed, "seed", uint64(time.Now().UnixNano()), "of orders, faults and kills")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *shares); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o proof.Options, shares bool) error {
	var err error
	if o.Bulkcat, err = filepath.Abs(o.Bulkcat); err != nil {
		return err
	}
	if o.Dir, err = os.MkdirTemp("", "bulkcat-gateway-"); err != nil {
		return err
	}
	report, err := proof.Run(ctx, o)
	fmt.Print(report)
	used, fair := 0.95, 0.7
	if !shares {
		used, fair = 0, 0
	}
	err = errors.Join(err, report.Check(used, fair))
	if err != nil {
		return fmt.Errorf("%w; see %s", err, o.Dir)
	}
	return os.RemoveAll(o.Dir)
}
