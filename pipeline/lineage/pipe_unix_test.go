//go:build unix

package lineage

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipe refuses a pipe without a reader at once.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Place: pipe, Log: quiet}); err == nil || !strings.Contains(err.Error(), "is a pipe") {
		t.Errorf("got %v", err)
	}
}
