//go:build unix

package notify

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestCommandEndsWithItsPrograms ends a command whose shell waits for a program that it has started. Each process of the
// command has the pipe open.
func TestCommandEndsWithItsPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- Command{Line: "exec 9>" + path + "; echo begins >&9; sleep 30; true", Output: io.Discard}.Run(ctx, End, Facts{})
	}()
	pipe, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	in := bufio.NewReader(pipe)
	if line, err := in.ReadString('\n'); line != "begins\n" {
		t.Fatal(line, err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the command has ended without an error")
	}
	start := time.Now()
	if _, err := in.ReadByte(); err != io.EOF || time.Since(start) > 15*time.Second {
		t.Errorf("a program of the command has ended %v later: %v", time.Since(start), err)
	}
}
