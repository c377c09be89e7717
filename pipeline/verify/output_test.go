package verify

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
)

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(input, []byte(records), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, shard := range map[string]record.Shard{"out.csv": {}, "out/": {Number: 1, Count: 1}} {
		p := Paths{Output: filepath.Join(dir, name), Input: reader.Options{Paths: []string{input}}}
		store := filepath.Join(dir, stores.Name)
		if shard.Count > 0 {
			p.Output += "/"
			store = filepath.Join(dir, "out", shard.Folder(), "_answers")
		}
		run(t, p, shard)
		if shard.Count > 0 { // as finish does
			if err := os.WriteFile(record.SuccessPath(p.Output), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}

		r, err := Output(t.Context(), p)
		if err != nil || !r.Balanced || r.Inputs != 8 || r.Stored == 0 || len(r.Locked) != 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		held, err := answers.Open(answers.Options{Dir: store, Source: service, MustExist: true})
		if err != nil {
			t.Fatal(err)
		}
		r, err = Output(t.Context(), p)
		if err != nil || !r.Balanced || r.Stored != 0 || len(r.Locked) != 1 || r.Locked[0] != store {
			t.Errorf("%s, whose store is locked: %+v, %v", name, r, err)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}

		p.Store = filepath.Join(dir, "nowhere")
		if _, err := Output(t.Context(), p); !isMissing(err) {
			t.Errorf("%s, whose store is missing: %v", name, err)
		}
	}
	if _, err := Output(t.Context(), Paths{Output: filepath.Join(dir, "none.csv")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without an output: %v", err)
	}
}

// run writes an output with the session of a hosted service.
func run(t *testing.T, p Paths, shard record.Shard) {
	t.Helper()
	session, err := pipeline.Open(t.Context(), pipeline.SessionOptions{
		Kind: client.Website, Service: pipeline.Service{Categorizer: byHost{}, Name: service, Hosted: true},
		Limits: limits.Options{Rate: math.Inf(1)},
		Input:  p.Input, Output: pipeline.OutputOptions{Path: p.Output, Carry: "all"}, Shard: shard,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
}

func isMissing(err error) bool {
	_, ok := errors.AsType[*answers.MissingError](err)
	return ok
}
