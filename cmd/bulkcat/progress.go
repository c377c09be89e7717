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
	counts func() pipeline.Snapshot
	input  func() (read, total int64)      // bytes
	quota  func() (left int64, known bool) // requests
	limit  int64                           // records read at most; 0 for all
	pace   pace
	show   func(status)
	clear  func()
	done   chan struct{}
	ended  sync.WaitGroup
}

const (
	barInterval = 200 * time.Millisecond
	logInterval = 30 * time.Second
)

// startProgress shows the progress until stop.
func startProgress(quiet bool, c *console, log *slog.Logger, p *progress) *progress {
	p.done = make(chan struct{})
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
	p.pace.add(time.Now(), 0)
	for {
		select {
		case now := <-ticker.C:
			p.show(p.status(now))
		case <-p.done:
			return
		}
	}
}

// status is the progress at one moment.
type status struct {
	counts  pipeline.Snapshot
	total   int64         // records, as far as is known; 0 if unknown
	rate    float64       // records a second that this run has settled, over the last minutes
	left    time.Duration // 0 if unknown
	quota   int64         // requests left
	metered bool          // quota is known
}

func (p *progress) status(now time.Time) status {
	s := status{counts: p.counts()}
	s.quota, s.metered = p.quota()
	p.pace.add(now, s.counts.SettledNow())
	s.rate = p.pace.rate()
	read, total := p.input()
	if total > 0 && read > 0 {
		s.total = max(s.counts.Read, int64(float64(s.counts.Read)*float64(total)/float64(read)))
		if p.limit > 0 {
			s.total = min(s.total, p.limit)
		}
		if s.rate > 0 {
			s.left = time.Duration(float64(s.total-s.counts.Settled()) / s.rate * float64(time.Second))
		}
	}
	return s
}

func (s status) log(log *slog.Logger) {
	args := []any{
		"records", s.counts.Settled(), "total", s.total, "rate", fmt.Sprintf("%.1f/s", s.rate),
		"requests", s.counts.Requests, "retries", s.counts.Retries, "unanswered", s.counts.Unanswered(),
	}
	if s.left > 0 {
		args = append(args, "left", s.left.Round(time.Second).String())
	}
	if s.metered {
		args = append(args, "quota", s.quota)
	}
	log.Info("progress", args...)
}

// pace measures the rate over the last two minutes, from the first record that this run settles: the rate of
// reading stored answers does not show the rate of the service.
type pace struct{ samples []sample }

type sample struct {
	at time.Time
	n  int64
}

const paceWindow = 2 * time.Minute

func (p *pace) add(at time.Time, n int64) {
	if n == 0 {
		p.samples = p.samples[:0]
	}
	p.samples = append(p.samples, sample{at, n})
	for len(p.samples) > 2 && at.Sub(p.samples[1].at) >= paceWindow {
		p.samples = p.samples[1:]
	}
}

// rate is in records a second; 0 while there are fewer than two samples.
func (p *pace) rate() float64 {
	if len(p.samples) < 2 {
		return 0
	}
	first, last := p.samples[0], p.samples[len(p.samples)-1]
	if elapsed := last.at.Sub(first.at).Seconds(); elapsed > 0 {
		return float64(last.n-first.n) / elapsed
	}
	return 0
}
