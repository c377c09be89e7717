package main

import (
	"errors"
	"log/slog"
	"math"

	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// fetchFlags say how the embedded service reads pages.
type fetchFlags struct {
	mode         page.Mode
	rate         fetchRate
	allowPrivate bool
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
