package pipeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// A glob or a folder does not take the outputs of runs as inputs. What is named itself is read.
func TestOutputsAreNoInputs(t *testing.T) {
	files := []string{
		"in/a.csv", "in/b.csv",
		"in/last.csv", "in/last.csv.run.json", // an output with its account
		"in/night/part-00001.csv", "in/night/_manifest.json", // a folder, killed before it had an account
		"in/week/part-00001.csv", "in/week/_manifest.json", "in/week.run.json",
		"in/shards/_shards.json", "in/shards/shard-1-of-2/part-00001.csv", "in/shards/shard-1-of-2/_manifest.json",
		"in/old/c.csv",
	}
	bucket, url := storagetest.New()
	dir := t.TempDir()
	for _, name := range files {
		text := "{}"
		if strings.HasSuffix(name, ".csv") {
			text = "url\na.example\n"
		}
		bucket.Set("copy/"+name, text)
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ path, want string }{
		{"in/*.csv", "in/a.csv in/b.csv"},
		{"in/", "in/a.csv in/b.csv in/old/c.csv"},
		{"in/*/*.csv", "in/old/c.csv"},
		{"in/last.csv", "in/last.csv"},
		{"in/night/", "in/night/part-00001.csv"},
		{"in/night/*.csv", "in/night/part-00001.csv"},
		{"in/shards/*/*.csv", ""},
		{"in/l*.csv", ""},
	} {
		for _, root := range []string{dir + "/", url + "/"} {
			ctx := context.Background()
			r, err := reader.Open(ctx, reader.Options{Paths: []string{root + tt.path}, Columns: []string{"url"}, Storage: storage.From(ctx), IsOutput: pipeline.IsOutput})
			if err != nil {
				if tt.want != "" || !strings.Contains(err.Error(), "has outputs of runs only: name the output itself to read it") {
					t.Errorf("%s: %v", tt.path, err)
				}
				continue
			}
			var got []string
			for _, f := range r.Files() {
				got = append(got, filepath.ToSlash(strings.TrimPrefix(f.Name, root)))
			}
			r.Close()
			if !slices.Equal(got, strings.Fields(tt.want)) {
				t.Errorf("%s: got %v, want %s", root+tt.path, got, tt.want)
			}
		}
	}
}

// An output that was edited is not replaced, also if its size is the same.
func TestEditedOutput(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edit  func(v storagetest.Version) storagetest.Version
		taken bool
	}{
		{"as it was", func(v storagetest.Version) storagetest.Version { return v }, false},
		{"the clock of the storage is ahead", func(v storagetest.Version) storagetest.Version {
			v.Modified = v.Modified.Add(time.Hour)
			return v
		}, false},
		{"a character was changed", func(v storagetest.Version) storagetest.Version {
			v.Text, v.Modified = strings.Replace(v.Text, "ok", "OK", 1), time.Now()
			return v
		}, true},
		{"a character was appended", func(v storagetest.Version) storagetest.Version {
			v.Text += "\n"
			return v
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bucket, folder := storagetest.New()
			o := products(t, new(counting))
			o.Output.Path = disk.Join(folder, "out.csv")
			if _, err := runSession(t, o); err != nil {
				t.Fatal(err)
			}
			bucket.Objects["copy/out.csv"] = tt.edit(bucket.Objects["copy/out.csv"])
			_, err := runSession(t, o)
			if taken, isTaken := errors.AsType[*output.TakenError](err); isTaken != tt.taken || err != nil && !isTaken {
				t.Errorf("%v, %v", taken, err)
			}
		})
	}
}
