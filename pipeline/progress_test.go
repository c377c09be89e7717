package pipeline

import (
	"testing"
	"time"
)

func TestPaceForgetsTheStart(t *testing.T) {
	var p pace
	start := time.Now()
	if p.add(start, 0); p.rate() != 0 {
		t.Errorf("a rate of %v from one sample", p.rate())
	}
	p.add(start.Add(time.Second), 1_000_000) // out of a store
	for i := range 600 {
		p.add(start.Add(time.Second*time.Duration(i+2)), 1_000_000+int64(i)*10)
	}
	if got := p.rate(); got < 9.9 || got > 10.1 {
		t.Errorf("got %v/s, want 10/s", got)
	}
	if len(p.samples) > 125 {
		t.Errorf("%d samples kept", len(p.samples))
	}
}

func TestProgressEstimates(t *testing.T) {
	var pace pace
	start := time.Now()
	pace.add(start, 0)
	p := Progress{Counts: Snapshot{Read: 100, OK: 80}}
	pace.estimate(&p, start.Add(10*time.Second), 250, 1000, 0)
	if p.Total != 400 || p.Rate != 8 || p.Left != 40*time.Second {
		t.Errorf("got %+v", p)
	}
	p = Progress{Counts: Snapshot{Read: 100, OK: 80}}
	pace.estimate(&p, start.Add(20*time.Second), 250, -1, 0) // a pipe
	if p.Total != 0 || p.Left != 0 {
		t.Errorf("estimates %+v for an input without an end", p)
	}
}
