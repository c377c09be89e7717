package pipeline_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// stopped is an output in which starts end in several ways.
type stopped struct {
	t       *testing.T
	options pipeline.Options
	before  *account.Account // beside the output; nil for none
}

// start makes a start, which ends with an error unless isComplete is set.
func (s *stopped) start(isComplete bool, change func(*pipeline.Options)) {
	s.t.Helper()
	s.before, _ = runfiles.ReadLast(s.t.Context(), runfiles.AccountPath(s.options.Output.Path))
	o := s.options
	if change != nil {
		change(&o)
	}
	if _, err := runSession(s.t, o); (err == nil) != isComplete {
		s.t.Fatalf("the start ended with %v", err)
	}
}

// refused is a service that takes no key.
type refused struct{}

func (refused) Attempt(context.Context, client.Request) (client.Answer, error) {
	return client.Answer{}, &client.Error{Class: client.Auth, Status: 401}
}

// stop makes a start that ends without rows.
func (s *stopped) stop(change func(*pipeline.Options)) {
	s.t.Helper()
	s.start(false, func(o *pipeline.Options) {
		o.Service.Attempter, o.Store.MaxAge = refused{}, 1
		if change != nil {
			change(o)
		}
	})
}

// kill takes the account of the last start back, as if it had been killed when its rows were in place.
func (s *stopped) kill() {
	s.t.Helper()
	path := runfiles.AccountPath(s.options.Output.Path)
	last, err := runfiles.ReadLast(s.t.Context(), path)
	if err == nil && s.before != nil {
		err = runfiles.Write(s.t.Context(), path, s.before)
	} else if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lock, err := disk.TryLock(s.options.Output.Path)
	if err == nil {
		err = lock.Claim(last.RunID())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lock.Release()
}

// grow adds a record to the input.
func (s *stopped) grow() {
	s.t.Helper()
	path := s.options.Input.Paths[0]
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(text, "rain barrel,3\n"...), 0o666)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// other makes options those of another run.
func other(o *pipeline.Options) { o.Output.Overwrite, o.Output.Levels = true, 2 }

// The account beside an output tells the truth about its rows, whichever starts have ended without rows, and the usual run goes
// on.
func TestAccountOfRows(t *testing.T) {
	for _, tt := range []struct {
		name   string
		starts func(s *stopped)
		rows   bool // the account knows the rows
		levels int  // of the rows; 0 for none
		taken  bool // by another run
	}{
		{"none", func(s *stopped) { s.stop(nil) }, false, 0, false},
		{"complete", func(s *stopped) { s.start(true, nil) }, true, 1, false},
		{"stopped", func(s *stopped) { s.start(true, nil); s.stop(nil); s.stop(nil) }, true, 1, false},
		{"another run", func(s *stopped) { s.start(true, nil); s.stop(other) }, true, 1, false},
		{"another run, then this", func(s *stopped) { s.start(true, nil); s.stop(other); s.stop(nil) }, true, 1, false},
		{"replaced by another run", func(s *stopped) { s.start(true, nil); s.start(true, other) }, true, 2, true},
		{"the first is killed", func(s *stopped) { s.start(true, nil); s.kill(); s.stop(nil) }, false, 1, false},
		{"killed with equal rows", func(s *stopped) { s.start(true, nil); s.start(true, nil); s.kill(); s.stop(nil) }, true, 1, false},
		{"killed with other rows", func(s *stopped) { s.start(true, nil); s.grow(); s.start(true, nil); s.kill(); s.stop(nil) }, false, 1, false},
		{"killed, stopped twice", func(s *stopped) {
			s.start(true, nil)
			s.grow()
			s.start(true, nil)
			s.kill()
			s.stop(nil)
			s.stop(nil)
		}, false, 1, false},
		{"killed, then another run", func(s *stopped) { s.start(true, nil); s.grow(); s.start(true, nil); s.kill(); s.stop(other) }, false, 1, false},
		{"another run is killed", func(s *stopped) { s.start(true, nil); s.start(true, other); s.kill(); s.stop(other) }, false, 2, true},
	} {
		for _, name := range []string{"out.csv", "folder/"} {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				s := &stopped{t: t, options: products(t, new(counting))}
				s.options.Output.Path = filepath.Dir(s.options.Output.Path) + "/" + name
				s.options.Output.Format, s.options.Output.PartRows = writer.CSV, 1
				tt.starts(s)
				rows, err := runfiles.ReadAccount(t.Context(), runfiles.AccountPath(s.options.Output.Path))
				if err != nil {
					t.Fatal(err)
				}
				if rows.HasRows() != tt.rows {
					t.Errorf("the account knows the rows: %t, want %t", rows.HasRows(), tt.rows)
				}
				if rows.HasRows() {
					if rows.Settings.Levels != tt.levels {
						t.Errorf("the account has rows of %d levels, want %d", rows.Settings.Levels, tt.levels)
					}
					for _, f := range rows.Outputs {
						path := filepath.Join(filepath.Dir(s.options.Output.Path), filepath.Base(f.Path))
						if name == "folder/" {
							path = filepath.Join(s.options.Output.Path, filepath.Base(f.Path))
						}
						text, err := os.ReadFile(path)
						if sum := sha256.Sum256(text); err != nil || hex.EncodeToString(sum[:]) != f.SHA256 {
							t.Errorf("%s is not that of the account: %v", path, err)
						}
					}
				}
				if rows != nil && rows.Published != nil {
					t.Error("the account of the rows has another")
				}
				if tt.taken {
					return
				}
				s.start(true, nil)
				if last, err := runfiles.ReadLast(t.Context(), runfiles.AccountPath(s.options.Output.Path)); err != nil || last.Published != nil || last.Counts.Written != last.Counts.Read {
					t.Errorf("the usual run has left %+v, %v", last, err)
				}
			})
		}
	}
}
