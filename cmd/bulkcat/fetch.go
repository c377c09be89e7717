package main

import (
	"errors"
	"log/slog"
	"math"

	"github.com/spf13/pflag"
	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// fetchFlags say how the embedded service reads pages.
type fetchFlags struct {
	mode         page.Mode
	rate         fetchRate
	allowPrivate bool
}

func (f *fetchFlags) bind(flags *pflag.FlagSet) {
	f.mode, f.rate = page.Auto, fetchRate{rateValue(math.Inf(1))}
	flags.Var(&f.mode, "fetch", "whether the embedded service reads the pages of websites: auto, always or never")
	flags.Var(&f.rate, "fetch-rate", "pages at most over all hosts, such as 20/s or 600/m; 0 for no limit; each host gets one request at a time in any case")
	flags.BoolVar(&f.allowPrivate, "allow-private", false, "also read pages at addresses of the local network")
}

func (f *fetchFlags) fetcher(log *slog.Logger) *page.Fetcher {
	return page.New(page.Options{
		Mode:         f.mode,
		Rate:         rate.Limit(min(float64(f.rate.rateValue), math.MaxFloat64)),
		AllowPrivate: f.allowPrivate,
		UserAgent:    page.UserAgent(version()),
		Logger:       log,
	})
}

// fetchRate is a rate that cannot be learned.
type fetchRate struct{ rateValue }

func (v *fetchRate) Set(text string) error {
	if text == "auto" {
		return errors.New("there is nothing to learn a rate from: write 20/s, or 0 for no limit")
	}
	return v.rateValue.Set(text)
}
