package answers

import (
	"sync"

	"github.com/bulkcat/bulkcat/client"
)

// damageTold bounds the warnings, so that a store that is damaged all over does not
// flood the log.
const damageTold = 10

// damage remembers the damaged values that were met.
type damage struct {
	mu   sync.Mutex
	keys map[string]struct{}
}

// note tells of the damaged value under a key of the database, once. Source and request
// are as far as they are known.
func (d *damage) note(options Options, key []byte, source string, r client.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.keys[string(key)]; known {
		return
	}
	if d.keys == nil {
		d.keys = make(map[string]struct{})
	}
	d.keys[string(key)] = struct{}{}
	if len(d.keys) > damageTold {
		return
	}
	options.Log.Warn("a stored answer is damaged and counts as none", "store", options.Dir,
		"source", source, "kind", r.Kind, "classification", r.Classification, "input", r.Input)
	if len(d.keys) == damageTold {
		options.Log.Warn("further damaged answers are only counted", "store", options.Dir)
	}
}

func (d *damage) met() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.keys))
}
