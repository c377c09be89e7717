package answers

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
)

func TestFilter(t *testing.T) {
	const n = 50_000
	f := new(filter)
	key := func(i int) []byte {
		return fmt.Appendf(nil, "https://api.example.com\x00website\x00naics\x00site-%d", i)
	}
	var hashes []uint64
	for i := range n {
		hashes = append(hashes, hashKey(key(i)))
	}
	f.add(hashes)
	there, others := make([]sought, n), make([]sought, n)
	for i := range n {
		there[i].hash, others[i].hash = hashKey(key(i)), hashKey(key(n+i))
	}
	if left := f.strike(there); len(left) != n {
		t.Errorf("%d of %d keys are left", len(left), n)
	}
	if left := f.strike(others); len(left) > n/1000 {
		t.Errorf("%d of %d keys that are not there are left", len(left), n)
	}
}

// TestFilterIsOfNewStores answers from a store that had answers when it was opened, and
// from one that had none.
func TestFilterIsOfNewStores(t *testing.T) {
	files := vfs.NewMem()
	second := client.Request{Kind: request.Kind, Classification: request.Classification, Input: "https://second.example/"}
	for i, r := range []client.Request{request, second} {
		s := open(t, Options{FS: files})
		if first := i == 0; first != (s.keys != nil) {
			t.Errorf("opened %d times: filter %v", i+1, s.keys != nil)
		}
		commit(t, s, r, sound(noon))
		for _, r := range []client.Request{request, second}[:i+1] {
			if _, found, err := s.Lookup(r); !found || err != nil {
				t.Errorf("opened %d times: %s: %v, %v", i+1, r.Input, found, err)
			}
		}
		closed(t, s)
	}
}
