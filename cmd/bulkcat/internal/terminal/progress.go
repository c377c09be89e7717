package terminal

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/repeat"
)

const (
	barInterval = 200 * time.Millisecond
	logInterval = 30 * time.Second
)

// ShowProgress shows the progress of a run until stop is called: with a bar on a terminal, with log lines elsewhere.
func (c *Console) ShowProgress(log *slog.Logger, progress func() account.Status) (stop func()) {
	interval, show := logInterval, func(s status) { s.log(log) }
	if c.bars {
		interval, show = barInterval, func(s status) { c.draw(barLine(s, Width(c.out))) }
	}
	end := repeat.Every(interval, func() { show(status(progress())) })
	return func() {
		end()
		c.EndBar()
	}
}

// status is the progress at one moment.
type status account.Status

func (s status) log(log *slog.Logger) {
	args := []any{
		"records", s.Records, "total", s.Total, "rate", fmt.Sprintf("%.1f/s", s.RecordsPerSecond),
		"requests", s.Requests, "retries", s.Retries, "unanswered", s.Unanswered,
	}
	if s.About {
		args[2] = "total_about"
	}
	if s.Ends != nil {
		args = append(args, "left", s.Ends.Sub(s.Updated).Round(time.Second).String())
	}
	if s.Stop != "" {
		args = append(args, "then", s.Stop)
	}
	if s.waiting() != "" {
		args = append(args, "state", s.State, "since", s.Since.Local().Format(time.RFC3339))
	}
	if s.Cost != nil {
		args = append(args, "cost", s.Cost.Price.Text(s.Cost.Total))
	}
	if s.Quota != nil {
		args = append(args, "quota", *s.Quota)
	}
	log.Info("progress", args...)
}
