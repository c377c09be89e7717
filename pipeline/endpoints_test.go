package pipeline_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
)

// Two sessions of one process read and write buckets of one name at two endpoints, at the same time.
func TestSessionsAtTwoEndpoints(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	ended := make(chan error)
	places := []string{"here", "there"}
	for _, place := range places {
		storagetest.At(t.Name(), place).Set("in.csv", "title\nhose of "+place+"\n")
		o := products(t, new(counting))
		o.Store.Path = filepath.Join(t.TempDir(), "answers.db")
		o.Input.Paths = []string{"mem://" + t.Name() + "/in.csv?endpoint=" + place}
		o.Output.Path = "mem://" + t.Name() + "/" + place + ".csv?endpoint=" + place
		session, err := pipeline.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		go func() {
			_, err := session.Run(t.Context())
			ended <- err
		}()
	}
	for range places {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, place := range places {
		bucket := storagetest.At(t.Name(), place)
		if names := fmt.Sprint(bucket.Names()); names != fmt.Sprintf("[%s.csv %s.csv.run.json in.csv]", place, place) && names != fmt.Sprintf("[in.csv %s.csv %s.csv.run.json]", place, place) {
			t.Errorf("%s has %s", place, names)
		}
		if text := bucket.Objects[place+".csv"].Text; !strings.Contains(text, "hose of "+place) {
			t.Errorf("%s has the output %q", place, text)
		}
	}
}
