package pipeline_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline"
)

// hoses is a list of n titles.
func hoses(n int) string {
	text := "title\n"
	for i := range n {
		text += fmt.Sprintf("hose %d\n", i+1)
	}
	return text
}

// A session that is closed again leaves the lock and the copy of standard input of the session after it.
func TestCloseTwice(t *testing.T) {
	o := products(t, new(counting))
	open := func() *pipeline.Session {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { out.Close() })
		_, _ = io.WriteString(in, hoses(1))
		in.Close()
		o.Input.Paths, o.Input.Stdin = []string{"-"}, out
		session, err := pipeline.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if session.SpoolPath() == "" {
			t.Error("standard input is not kept")
		}
		return session
	}
	first := open()
	if err := first.Close(); err != nil || first.SpoolPath() != "" {
		t.Errorf("the copy of a closed session: %q, %v", first.SpoolPath(), err)
	}
	second := open()
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(second.SpoolPath()); err != nil {
		t.Error(err)
	}
	if _, err := second.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
