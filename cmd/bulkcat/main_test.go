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
	"github.com/bulkcat/bulkcat/pipeline/account"
)

func TestExitStatus(t *testing.T) {
	stop := func(cause account.Cause) error { return fmt.Errorf("run: %w", &pipeline.StopError{Cause: cause}) }
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
		{"quota", stop(account.QuotaExhausted), nil, 75},
		{"interrupted", stop(account.Interrupted), syscall.SIGINT, 130},
		{"terminated", stop(account.Interrupted), syscall.SIGTERM, 143},
		{"failed while stopping", errors.Join(errors.New("disk full")), syscall.SIGINT, 1},
		{"service", &pipeline.ServiceError{Err: &client.Error{Class: client.Auth}}, nil, 1},
	} {
		if got := exitStatus(tt.err, tt.signal); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
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

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "12h": 12 * time.Hour, "0": 0, "1.5d": 36 * time.Hour} {
		if got, err := parseAge(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "old", "-1d", "NaNd", "-5h", "1e9d"} {
		if got, err := parseAge(text); err == nil || !strings.Contains(err.Error(), "30d") {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// checkTold wants an error in words, and no stack trace.
func checkTold(t *testing.T, stderr string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(stderr, text) {
			t.Errorf("standard error lacks %q:\n%.2000s", text, stderr)
		}
	}
	if strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic") {
		t.Errorf("a stack trace:\n%.2000s", stderr)
	}
}
