package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// hoses is a list of n titles.
func hoses(n int) string {
	text := "title\n"
	for i := range n {
		text += fmt.Sprintf("hose %d\n", i+1)
	}
	return text
}

// namedPipe is the path of a pipe that has the text, such as that of <(...).
func namedPipe(t *testing.T, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no file has the name of a pipe here")
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	go func() {
		_, _ = io.WriteString(in, text) // until the pipe is closed
		in.Close()
	}()
	return fmt.Sprintf("/dev/fd/%d", out.Fd())
}

// The requests for a pipe are not known before the run, which says nothing of the quota then.
func TestQuotaOfAPipe(t *testing.T) {
	var log bytes.Buffer
	o := products(t, new(counting))
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Input.Paths = []string{namedPipe(t, hoses(3))}
	o.Service.Usage = func(context.Context) (client.Usage, error) { return client.Usage{Remaining: "2"}, nil }
	if a, err := runSession(t, o); err != nil || a.Counts.OK != 3 {
		t.Error(err)
	}
	if strings.Contains(log.String(), "quota is enough") {
		t.Error(log.String())
	}
}

// What reads the input twice would take the records of a pipe from the run, which would then be complete without them.
func TestPipeIsNotReadTwice(t *testing.T) {
	for option, change := range map[string]func(o *pipeline.Options){
		"Store.RefreshBudget": func(o *pipeline.Options) { o.Store.RefreshBudget = 1 },
		"Free.Model":          func(o *pipeline.Options) { o.Free.Model = modelOfTitles() },
	} {
		o := products(t, new(counting))
		o.Input.Paths = []string{namedPipe(t, hoses(10_000))}
		change(&o)
		_, err := pipeline.Open(t.Context(), o)
		if wrong, ok := errors.AsType[*pipeline.OptionError](err); !ok || wrong.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}

// A pipe whose records are not those of the kept parts has been read in part. The run does not go on with the rest of it.
func TestChangedPipe(t *testing.T) {
	const n = 8000 // more than is read at once
	o := products(t, nil)
	o.Service.Attempter = &moody{asked: make(map[string]int)}
	o.Limits.InFlight, o.Limits.Rate = 100, 1e9
	o.Output.Path, o.Output.Format, o.Output.PartRows = filepath.Join(t.TempDir(), "out")+"/", "csv", n/4
	o.Input.Paths = []string{filepath.Join(t.TempDir(), "pipe")}
	for start, text := range []string{hoses(n), strings.Replace(hoses(n), "hose 3000\n", "other\n", 1)} {
		_ = os.Remove(o.Input.Paths[0])
		if err := os.Symlink(namedPipe(t, text), o.Input.Paths[0]); err != nil {
			t.Fatal(err)
		}
		a, err := runSession(t, o)
		if _, changed := errors.AsType[*pipeline.InputChangedError](err); changed != (start > 0) || !changed && err != nil {
			t.Errorf("start %d: %d records, %v", start, a.Counts.Read, err)
		}
	}
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

// The account of a start that the service has refused names the inputs, too.
func TestInputsOfARefusedStart(t *testing.T) {
	o := products(t, new(counting))
	o.Service.Usage = func(context.Context) (client.Usage, error) {
		return client.Usage{}, &client.Error{Class: client.Auth, Status: 401}
	}
	if a, err := runSession(t, o); err == nil || len(a.Inputs) != 1 || a.Inputs[0].Name != o.Input.Paths[0] {
		t.Errorf("%+v, %v", a.Inputs, err)
	}
}

// A run that is interrupted while it plans ends at once, resumable, also if the storage of the input hangs.
func TestInterruptedWhilePlanned(t *testing.T) {
	for _, sample := range []int64{0, 10} {
		t.Run(fmt.Sprint("sample ", sample), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				bucket, folder := storagetest.New()
				bucket.Set("copy/in.csv", hoses(1000))
				o := products(t, new(counting))
				o.Input.Paths, o.Sample = []string{disk.Join(folder, "in.csv")}, sample
				planning := make(chan struct{}, 100)
				o.Service.Usage = func(context.Context) (client.Usage, error) {
					bucket.Disturb(func(op, _ string) error {
						if op != "read" {
							return nil
						}
						planning <- struct{}{}
						return storagetest.ErrHang
					})
					return client.Usage{Remaining: "5"}, nil
				}
				session, err := pipeline.Open(ctx, o)
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				go func() {
					<-planning
					interrupt()
				}()
				a, err := session.Run(ctx)
				if _, resumable := session.Resumption(err); !resumable || a.Ending != account.Ending(account.Interrupted) {
					t.Errorf("%s, resumable %t: %v", a.Ending, resumable, err)
				}
			})
		})
	}
}

// Other stores are looked up for the records of the sample.
func TestOtherStoresOfASample(t *testing.T) {
	o := products(t, nil)
	o.Service.Attempter = &moody{asked: make(map[string]int)}
	if err := os.WriteFile(o.Input.Paths[0], []byte(hoses(30_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Sample, o.Store.Path = 20, filepath.Join(t.TempDir(), "other.db")
	if _, err := runSession(t, o); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Store.Others, o.Store.Path = []string{o.Store.Path}, filepath.Join(t.TempDir(), "own.db")
	o.Output.Path = filepath.Join(t.TempDir(), "out.csv")
	if _, err := runSession(t, o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), `has="20 of the first 20"`) {
		t.Error(log.String())
	}
}

// A start that may not write the log of its attempts leaves no plan: a refresh would take it for its own beginning.
func TestRefusedStartLeavesNoPlan(t *testing.T) {
	o := products(t, new(counting))
	o.Store.Path = filepath.Join(t.TempDir(), "answers.db")
	o.Store.RefreshBudget = 1
	o.Requests = filepath.Join(t.TempDir(), "attempts.csv")
	if err := os.WriteFile(o.Requests, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := runSession(t, o)
	if wrong, ok := errors.AsType[*pipeline.OptionError](err); !ok || wrong.Option != "Requests" {
		t.Fatal(err)
	}
	store, err := answers.Open(answers.Options{Path: o.Store.Path, Source: o.Service.Name, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if note, err := store.Note("refresh progress" + a.RunID()); err != nil || len(note) > 0 {
		t.Errorf("%s, %v", note, err)
	}
}
