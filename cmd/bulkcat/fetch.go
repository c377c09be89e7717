package main

import (
	"log/slog"
	"math"

	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// fetchFlags say how the embedded service reads pages.
type fetchFlags struct {
	mode         page.Mode
	rate         float64 // pages a second
	allowPrivate bool
}

func (f *fetchFlags) fetcher(log *slog.Logger) *page.Fetcher {
	return page.New(page.Options{
		Mode:         f.mode,
		Rate:         rate.Limit(min(f.rate, math.MaxFloat64)),
		AllowPrivate: f.allowPrivate,
		UserAgent:    page.UserAgent(version()),
		Logger:       log,
	})
}
