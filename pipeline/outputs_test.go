package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/reader"
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
