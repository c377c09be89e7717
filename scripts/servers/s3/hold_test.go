package s3

import (
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// held are the requests whose path and query have a text. They wait until release.
type held struct {
	text              string
	arrived, released chan struct{}
	arrive, release   func()
}

// hold holds requests from now on.
func (w *world) hold(text string) *held {
	h := &held{text: text, arrived: make(chan struct{}), released: make(chan struct{})}
	h.arrive = sync.OnceFunc(func() { close(h.arrived) })
	h.release = sync.OnceFunc(func() { close(h.released) })
	w.held.Store(h)
	w.t.Cleanup(h.release)
	return h
}

// wait holds a request. A nil held holds none.
func (h *held) wait(r *http.Request) {
	if h != nil && strings.Contains(r.URL.Path+"?"+r.URL.RawQuery, h.text) {
		h.arrive()
		<-h.released
	}
}

// await waits for the first held request.
func (h *held) await(t *testing.T) {
	t.Helper()
	select {
	case <-h.arrived:
	case <-time.After(time.Minute):
		t.Fatalf("no request of %s", h.text)
	}
}

// kill starts a run, and kills it when it makes a request whose path and query have a text.
func (w *world) kill(cmd *exec.Cmd, text string) {
	w.t.Helper()
	h := w.hold(text)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	h.await(w.t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	h.release()
}
