package s3

import (
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// held is a request whose path and query have a text. It waits until release.
type held struct {
	text              string
	arrived, released chan struct{}
	arrive, release   func()
}

// start starts a run, and returns when the run makes a request whose path and query have a text, which is held.
func (w *world) start(cmd *exec.Cmd, text string) *held {
	w.t.Helper()
	h := &held{text: text, arrived: make(chan struct{}), released: make(chan struct{})}
	h.arrive = sync.OnceFunc(func() { close(h.arrived) })
	h.release = sync.OnceFunc(func() { close(h.released) })
	w.held.Store(h)
	w.t.Cleanup(h.release)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	select {
	case <-h.arrived:
	case <-time.After(time.Minute):
		w.t.Fatalf("no request of %s", h.text)
	}
	w.held.Store(nil)
	return h
}

// wait holds a request. A nil held holds none.
func (h *held) wait(r *http.Request) {
	if h != nil && strings.Contains(r.URL.Path+"?"+r.URL.RawQuery, h.text) {
		h.arrive()
		<-h.released
	}
}

// kill starts a run, and kills it when it makes a request whose path and query have a text.
func (w *world) kill(cmd *exec.Cmd, text string) {
	w.t.Helper()
	h := w.start(cmd, text)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	h.release()
}
