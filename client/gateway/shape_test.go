package gateway

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// misfits is an upstream that answers in another shape, except for some titles.
type misfits struct {
	except string // the beginning of titles that next answers
	next   client.Attempter
	asked  int
}

func (m *misfits) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	m.asked++
	if m.except != "" && strings.HasPrefix(r.Input, m.except) {
		return m.next.Attempt(ctx, r)
	}
	return client.Answer{}, &client.Error{Class: client.Fatal, Status: 200, Err: &client.ShapeError{Reason: "the answer has no list", Want: "{...}"}, Detail: `got {"data":{}}`}
}

func TestUpstreamOfAnotherShape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=100")
		log := new(bytes.Buffer)
		r.log = slog.New(slog.NewTextHandler(log, nil))
		r.run(t, func() {
			r.ask("alice", "stored").check(t, response{status: 200, cache: "miss"})
		})
		upstream := &misfits{}
		r.wrap = func(client.Attempter) client.Attempter { return upstream }
		r.run(t, func() {
			for i := range 50 {
				if got := r.ask("alice", fmt.Sprint("title ", i)); got.status != 502 || !strings.Contains(got.message, "cannot be used") {
					t.Fatalf("got %+v", got)
				}
			}
			synctest.Wait() // for the log
			if upstream.asked != client.MostUnusable || strings.Count(log.String(), "level=ERROR") != 1 || !strings.Contains(log.String(), "no list") {
				t.Errorf("%d requests:\n%s", upstream.asked, log)
			}
			r.ask("alice", "stored").check(t, response{status: 200, cache: "hit"})
			r.ask("alice", "/api/usage").check(t, response{status: 502, message: "cannot be used"})
		})
	})
}

// Among answers that fit, one of another shape is a rejection of its input.
func TestOneAnswerOfAnotherShape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=100")
		upstream := &misfits{except: "sound"}
		r.wrap = func(next client.Attempter) client.Attempter { upstream.next = next; return upstream }
		r.run(t, func() {
			refused := response{status: 422, cache: "miss", message: "the answer has no list: "}
			r.ask("alice", "sound 1").check(t, response{status: 200, cache: "miss"})
			r.ask("alice", "odd").check(t, refused)
			r.ask("alice", "sound 2").check(t, response{status: 200, cache: "miss"})
			refused.cache = "hit"
			r.ask("alice", "odd").check(t, refused)
			if upstream.asked != 3 {
				t.Errorf("%d requests", upstream.asked)
			}
		})
	})
}

// The plan is the upstream's.
func TestUsageNamesTheUpstreamsPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=100")
		r.run(t, func() {
			if got := r.ask("alice", "/api/usage"); got.plan != "test" || got.remaining != "100" {
				t.Errorf("got %+v", got)
			}
		})
		r = newRig(clienttest.Options{UsageBroken: true}, "alice quota=100")
		r.run(t, func() {
			if got := r.ask("alice", "/api/usage"); got.plan != "gateway" {
				t.Errorf("got %+v", got)
			}
		})
	})
}

// astray is an upstream behind a proxy that answers with a page for some titles, for the first time or always.
type astray struct {
	once, always string // the beginnings of the titles
	down         bool   // it answers all titles with a page
	next         client.Attempter
	asked        map[string]int
}

func (a *astray) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	a.asked[r.Input]++
	if a.down || strings.HasPrefix(r.Input, a.always) || strings.HasPrefix(r.Input, a.once) && a.asked[r.Input] == 1 {
		return client.Answer{}, &client.Error{Class: client.Rejected, Status: 404, Page: true}
	}
	return a.next.Attempt(ctx, r)
}

// A rejection by another server than the upstream is not the upstream's.
func TestPageOfAProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=100")
		upstream := &astray{once: "once", always: "always", asked: map[string]int{}}
		r.wrap = func(next client.Attempter) client.Attempter { upstream.next = next; return upstream }
		r.run(t, func() {
			r.ask("alice", "sound").check(t, response{status: 200, cache: "miss"})
			r.ask("alice", "always").check(t, response{status: 404, cache: "miss"})
			r.ask("alice", "once").check(t, response{status: 200, cache: "miss"})
			if n := upstream.asked; n["always"] != 3 || n["once"] != 2 {
				t.Errorf("asked %v", n)
			}
		})
	})
}

// A proxy rejects everything for a while. Its rejections are not stored.
func TestProxyRejectsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{}, "alice quota=100")
		upstream := &astray{once: "once", always: "always", asked: map[string]int{}}
		r.wrap = func(next client.Attempter) client.Attempter { upstream.next = next; return upstream }
		r.run(t, func() {
			r.ask("alice", "sound 1").check(t, response{status: 200, cache: "miss"})
			upstream.down = true
			for i := range 10 {
				r.ask("alice", fmt.Sprint("title ", i)).check(t, response{status: 404, cache: "miss"})
			}
			upstream.down = false
			r.ask("alice", "sound 2").check(t, response{status: 200, cache: "miss"})
			for i := range 10 {
				r.ask("alice", fmt.Sprint("title ", i)).check(t, response{status: 200, cache: "miss"})
			}
		})
	})
}
