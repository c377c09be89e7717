package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// counting is a service that answers every input, and counts the requests.
type counting struct{ requests int }

func (s *counting) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	s.requests++
	return client.ParseAnswer([]byte(`{"`+r.Classification+`":[{"value":"Home & Garden","confidence":0.5}]}`), r.Classification)
}

// products are the options of a session over two products in a new folder.
func products(t *testing.T, service *counting) pipeline.Options {
	t.Helper()
	input := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(input, []byte("title,sku\ngarden hose,1\nwatering can,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	o := pipeline.Options{
		Kind:    client.Product,
		Service: pipeline.Service{Attempter: service, Name: "https://api.example.com", Hosted: true},
		Input:   reader.Options{Paths: []string{input}},
		Output:  pipeline.OutputOptions{Path: filepath.Join(filepath.Dir(input), "out.csv"), Form: writer.Form{Levels: 1}, Carry: "all"},
	}
	o.Limits.InFlight = 1
	return o
}

func runSession(t *testing.T, o pipeline.Options) (*account.Account, error) {
	t.Helper()
	session, err := pipeline.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	return session.Run(t.Context())
}

func TestSessionStartedAgainAsksNothing(t *testing.T) {
	service := new(counting)
	o := products(t, service)
	if forecast, err := pipeline.DryRun(t.Context(), o); err != nil || forecast.ToAsk() != 2 || service.requests != 0 {
		t.Errorf("before: %d requests to make, %d made, %v", forecast.ToAsk(), service.requests, err)
	}
	for starts := range 2 {
		a, err := runSession(t, o)
		if err != nil {
			t.Fatal(err)
		}
		if service.requests != 2 || a.Counts.OK != 2 || len(a.Earlier) != starts {
			t.Errorf("start %d: %d requests, %d ok, %d earlier starts", starts, service.requests, a.Counts.OK, len(a.Earlier))
		}
	}
	if forecast, err := pipeline.DryRun(t.Context(), o); err != nil || forecast.ToAsk() != 0 {
		t.Errorf("after: %d requests to make, %v", forecast.ToAsk(), err)
	}
}

func TestSessionLeavesTheOutputOfAnotherRun(t *testing.T) {
	o := products(t, new(counting))
	if _, err := runSession(t, o); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(o.Output.Path)
	if err != nil {
		t.Fatal(err)
	}
	o.Output.Levels = 2
	a, err := runSession(t, o)
	taken, _ := errors.AsType[*pipeline.OutputTakenError](err)
	want := []account.SettingChange{{Setting: "levels", Then: "1", Now: "2"}}
	if a != nil || taken == nil || !slices.Equal(taken.Changes, want) {
		t.Errorf("got the account %v and %v", a, err)
	}
	if after, err := os.ReadFile(o.Output.Path); string(after) != string(before) {
		t.Errorf("the output is now %q, %v", after, err)
	}
	o.Output.Overwrite = true
	if _, err := runSession(t, o); err != nil {
		t.Errorf("with Overwrite: %v", err)
	}
}

func TestReserveOfAServiceWithoutQuotas(t *testing.T) {
	o := products(t, new(counting))
	o.Limits.KeepReserve, o.Limits.Reserve = true, 10
	if a, err := runSession(t, o); err != nil || a.Counts.OK != 2 {
		t.Errorf("got %v", err)
	}
}

func TestSessionErrorsNameOptions(t *testing.T) {
	for want, change := range map[string]func(o *pipeline.Options){
		"Kind":              func(o *pipeline.Options) { o.Kind = "" },
		"Service.Attempter": func(o *pipeline.Options) { o.Service.Attempter = nil },
		"Service.Name":      func(o *pipeline.Options) { o.Service.Name = "" },
		"Input.Paths":       func(o *pipeline.Options) { o.Input.Paths = nil },
		"Output.Path":       func(o *pipeline.Options) { o.Output.Path = "" },
		"Output.Format":     func(o *pipeline.Options) { o.Output.Format = "xlsx" },
		"Output.Levels":     func(o *pipeline.Options) { o.Output.Levels = 21 },
		"Output.PartRows":   func(o *pipeline.Options) { o.Output.PartRows = -1 },
		"Classifications":   func(o *pipeline.Options) { o.Classifications = []string{client.NAICS} },
		"Scheme":            func(o *pipeline.Options) { o.Scheme = "ftp" },
		"Dedupe":            func(o *pipeline.Options) { o.Dedupe = "all" },
		"Limit":             func(o *pipeline.Options) { o.Limit = -1 },
		"Sample":            func(o *pipeline.Options) { o.Sample = -1 },
		"Grace":             func(o *pipeline.Options) { o.Grace = -1 },
	} {
		t.Run(want, func(t *testing.T) {
			o := products(t, new(counting))
			change(&o)
			_, err := pipeline.Open(t.Context(), o)
			if wrong, _ := errors.AsType[*pipeline.OptionError](err); wrong == nil || wrong.Option != want {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(o.Output.Path); err == nil {
				t.Error("there is an output")
			}
		})
	}
}

// TestStatusBeforeRun asks a session that has not begun, and one whose run could not begin, how far it is.
func TestStatusBeforeRun(t *testing.T) {
	o := products(t, new(counting))
	o.Details = true
	session, err := pipeline.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	check := func() {
		t.Helper()
		if p := session.Status(); p.State != account.Starting || p.Since.IsZero() {
			t.Errorf("got the progress %+v", p)
		}
		if s := session.Status(); s.State != account.Starting || s.Output != o.Output.Path || s.Started.IsZero() || s.Details == nil || s.Details.Settings.Kind != "product" {
			t.Errorf("got the status %+v", s)
		}
	}
	check()
	if err := os.WriteFile(o.Output.Path, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Run(t.Context()); err == nil {
		t.Error("the run has replaced a file")
	}
	check()
}

// TestStatusWhileRunBegins has the race detector watch a page that asks while the run begins.
func TestStatusWhileRunBegins(t *testing.T) {
	session, err := pipeline.Open(t.Context(), products(t, new(counting)))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ended, asked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(asked)
		for {
			_ = session.Status()
			select {
			case <-ended:
				return
			default:
			}
		}
	}()
	if _, err := session.Run(t.Context()); err != nil {
		t.Error(err)
	}
	close(ended)
	<-asked
	if s := session.Status(); s.State != account.Ended {
		t.Errorf("after the run: %s", s.State)
	}
}

// A place that cannot be written does not end a run: each file has one warning.
func TestRunGoesOnWithoutJournalAndStatus(t *testing.T) {
	var log bytes.Buffer
	o := products(t, new(counting))
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	output := o.Output.Path
	for _, path := range []string{runfiles.StatusPath(output), runfiles.JournalPath(output)} {
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
	}
	if a, err := runSession(t, o); err != nil || a.Ending != account.Complete || a.Counts.OK != 2 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if n := strings.Count(log.String(), "the run goes on without it"); n != 2 {
		t.Errorf("%d warnings, want one for each file:\n%s", n, &log)
	}
	if entries, err := filepath.Glob(filepath.Join(filepath.Dir(runfiles.StatusPath(output)), "*")); err != nil || len(entries) != 2 { // the two
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// longLived is a context that counts the functions and contexts that wait for its end.
type longLived struct {
	context.Context
	waiting atomic.Int64
}

func (c *longLived) AfterFunc(func()) (stop func() bool) {
	c.waiting.Add(1)
	return sync.OnceValue(func() bool { c.waiting.Add(-1); return true })
}

// Value hides the context within, which would take the functions in place of AfterFunc.
func (c *longLived) Value(any) any { return nil }

// A program that runs one session after the other with one context keeps nothing of those that have ended.
func TestSessionLeavesNothingInTheContext(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx := &longLived{Context: parent}
	session, err := pipeline.Open(ctx, products(t, new(counting)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if n := ctx.waiting.Load(); n != 0 {
		t.Errorf("%d functions wait for the end of the context", n)
	}
}
