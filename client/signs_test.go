package client

import (
	"context"
	"testing"
	"time"
)

// What is known of the key and the quota decides what a refusal means.
func TestDiagnoserHasHeard(t *testing.T) {
	refused := func(status int) func(*Diagnoser) {
		return func(d *Diagnoser) {
			d.usage = usageFails(&Error{Class: classOf(status), Status: status})
		}
	}
	for _, tt := range []struct {
		name   string
		status int
		detail string
		know   func(*Diagnoser)
		want   Class
	}{
		{"stored answers prove the key", 403, "", func(d *Diagnoser) { refused(403)(d); d.Proven() }, Transient},
		{"nothing proves the key", 403, "", refused(403), Auth},
		{"a limit on all paths", 429, "You have exhausted your API Request Quota", func(d *Diagnoser) {
			refused(429)(d)
			d.heard = new(lastUsage)
			d.heard.Store(&usageReply{usage: Usage{Remaining: "123456"}})
		}, Transient},
		{"a limit on all paths, no bound", 429, "You have exhausted your API Request Quota", func(d *Diagnoser) {
			refused(429)(d)
			d.heard = new(lastUsage)
			d.heard.Store(&usageReply{usage: Usage{Remaining: "unlimited"}})
		}, Transient},
		{"a quota that was never told", 429, "You have exhausted your API Request Quota", refused(429), Quota},
		{"a 403 for long, and only usage answers", 403, "", func(d *Diagnoser) {
			d.usage = usageSays("7")
			d.deny = time.Now().Add(-2 * usageProof)
		}, Auth},
	} {
		d := &Diagnoser{next: &fails{err: &Error{Class: classOf(tt.status), Status: tt.status, Detail: tt.detail}}}
		tt.know(d)
		if _, err := d.Categorize(t.Context(), testRequest); ClassOf(err) != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, ClassOf(err), tt.want)
		}
	}
}

func usageFails(err error) func(context.Context) (Usage, error) {
	return func(context.Context) (Usage, error) { return Usage{}, err }
}

func usageSays(text string) func(context.Context) (Usage, error) {
	return func(context.Context) (Usage, error) { return Usage{Remaining: text}, nil }
}
