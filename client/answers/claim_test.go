package answers

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestClaims(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	if run, err := s.Claimed("/data/out.csv"); run != "" || err != nil {
		t.Errorf("a new store knows the claim %q, %v", run, err)
	}
	for _, run := range []string{"one", "another"} { // the last one counts
		if err := s.Claim("/data/out.csv", run); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	s = open(t, Options{FS: files})
	defer closed(t, s)
	if run, err := s.Claimed("/data/out.csv"); run != "another" || err != nil {
		t.Errorf("got %q, %v", run, err)
	}
	if run, err := s.Claimed("/data/other.csv"); run != "" || err != nil {
		t.Errorf("of another output: got %q, %v", run, err)
	}
}
