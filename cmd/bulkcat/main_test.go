package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
)

func TestExitStatus(t *testing.T) {
	stop := func(cause pipeline.Cause) error { return fmt.Errorf("run: %w", &pipeline.StopError{Cause: cause}) }
	for _, tt := range []struct {
		name   string
		err    error
		signal os.Signal
		want   int
	}{
		{"complete", nil, nil, 0},
		{"failed", errors.New("disk full"), nil, 1},
		{"usage", &usageError{errors.New("no output")}, nil, 2},
		{"unanswered", errUnanswered, nil, 3},
		{"quota", stop(pipeline.QuotaExhausted), nil, 75},
		{"interrupted", stop(pipeline.Interrupted), syscall.SIGINT, 130},
		{"terminated", stop(pipeline.Interrupted), syscall.SIGTERM, 143},
		{"failed while stopping", errors.Join(errors.New("disk full")), syscall.SIGINT, 1},
		{"service", &pipeline.ServiceError{Err: &client.Error{Class: client.Auth}}, nil, 1},
	} {
		if got := exitStatus(tt.err, tt.signal); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

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

func TestStatusEstimates(t *testing.T) {
	counters := new(pipeline.Counters)
	p := &progress{counts: counters.Snapshot, quota: func() (int64, bool) { return 12, true }, input: func() (int64, int64) { return 250, 1000 }}
	start := time.Now()
	p.pace.add(start, 0)
	counters.Read.Store(100)
	counters.OK.Store(80)
	s := p.status(start.Add(10 * time.Second))
	if s.total != 400 || s.rate != 8 || s.left != 40*time.Second || s.quota != 12 {
		t.Errorf("got %+v", s)
	}
	p.input = func() (int64, int64) { return 250, -1 } // a pipe
	if s := p.status(start.Add(20 * time.Second)); s.total != 0 || s.left != 0 {
		t.Errorf("estimates %+v for an input without an end", s)
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{
		"out.csv": "out.csv", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "feeds/*.csv": "'feeds/*.csv'", "--rate=10/s": "--rate=10/s",
	} {
		if got := shellQuote(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestAgeValue(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "12h": 12 * time.Hour, "0": 0, "1.5d": 36 * time.Hour} {
		var v ageValue
		if err := v.Set(text); err != nil || time.Duration(v) != want {
			t.Errorf("%q: got %v, %v", text, time.Duration(v), err)
		}
	}
	for _, text := range []string{"", "old", "-1d", "NaNd", "-5h", "1e9d"} {
		var v ageValue
		if err := v.Set(text); err == nil || !strings.Contains(err.Error(), "30d") {
			t.Errorf("%q: got %v, %v", text, time.Duration(v), err)
		}
	}
}
