package main

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/pipeline"
)

// progress shows how far a run is: with a bar on a terminal, with log lines elsewhere.
type progress struct {
	session *pipeline.Session
	show    func(status)
	clear   func()
	done    chan struct{}
	ended   sync.WaitGroup
}

const (
	barInterval = 200 * time.Millisecond
	logInterval = 30 * time.Second
)

// startProgress shows the progress until stop.
func startProgress(quiet bool, c *console, log *slog.Logger, session *pipeline.Session) *progress {
	p := &progress{session: session, done: make(chan struct{})}
	if quiet {
		return p
	}
	interval := logInterval
	p.show = func(s status) { s.log(log) }
	if c.bars {
		interval = barInterval
		p.show = func(s status) { c.draw(barLine(s, c.size())) }
		p.clear = c.endBar
	}
	p.ended.Go(func() { p.run(interval) })
	return p
}

func (p *progress) stop() {
	close(p.done)
	p.ended.Wait()
	if p.clear != nil {
		p.clear()
	}
}

func (p *progress) run(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.show(status(p.session.Progress()))
		case <-p.done:
			return
		}
	}
}

// status is the progress at one moment.
type status pipeline.Progress

func (s status) log(log *slog.Logger) {
	args := []any{
		"records", s.Counts.Settled(), "total", s.Total, "rate", fmt.Sprintf("%.1f/s", s.Rate),
		"requests", s.Counts.Requests, "retries", s.Counts.Retries, "unanswered", s.Counts.Unanswered(),
	}
	if s.Left > 0 {
		args = append(args, "left", s.Left.Round(time.Second).String())
	}
	if s.Stop != "" {
		args = append(args, "then", s.Stop)
	}
	if s.waiting() != "" {
		args = append(args, "state", s.State, "since", s.Since.Format(time.RFC3339))
	}
	if s.Metered {
		args = append(args, "quota", s.Quota)
	}
	log.Info("progress", args...)
}
