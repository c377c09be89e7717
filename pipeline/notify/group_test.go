//go:build unix

package notify

import (
	"bufio"
	"context"
	"io"
	"os"
	"testing"
	"time"
)

// TestCommandEndsWithItsProcesses ends commands whose shell has started other processes. The pipe ends when the last of
// them has.
func TestCommandEndsWithItsProcesses(t *testing.T) {
	for name, line := range map[string]string{
		"a command":               "echo begins; sleep 60; true",
		"in the background":       "sleep 60 & echo begins; wait",
		"a pipeline":              "echo begins; sleep 60 | sleep 60",
		"another shell":           "sh -c 'sleep 60 & echo begins; wait'; true",
		"a shell without a child": "echo begins; exec sleep 60",
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- Command{Line: line, Output: w}.Run(ctx, End, Facts{}) }()
			output := bufio.NewReader(r)
			if text, err := output.ReadString('\n'); text != "begins\n" {
				t.Fatalf("got %q, %v", text, err)
			}
			end()
			if err := <-ended; err == nil {
				t.Error("a command that was killed has no error")
			}
			w.Close()
			if err := r.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(output); err != nil {
				t.Errorf("processes of the command go on: %v", err)
			}
		})
	}
}
