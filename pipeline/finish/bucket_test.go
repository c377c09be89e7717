package finish

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/pipeline/objects"
	"github.com/bulkcat/bulkcat/writer"
)

// bucket is an object storage in memory.
type bucket struct {
	mu       sync.Mutex
	objects  map[string]object
	versions int
}

type object struct {
	data    string
	version int
}

func init() {
	objects.Register("mem", func(context.Context, string, url.Values) (objects.Bucket, error) {
		return &bucket{objects: map[string]object{}}, nil
	})
}

func (b *bucket) Stat(_ context.Context, key string) (objects.Info, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[key]
	if !ok {
		return objects.Info{}, fs.ErrNotExist
	}
	return objects.Info{Size: int64(len(o.data)), ETag: fmt.Sprint(o.version)}, nil
}

func (b *bucket) Read(_ context.Context, key string, version objects.Info, offset, length int64) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.objects[key]
	if version.ETag != fmt.Sprint(o.version) {
		return nil, objects.ErrChanged
	}
	return io.NopCloser(strings.NewReader(o.data[offset : offset+length])), nil
}

func (b *bucket) List(_ context.Context, prefix string, add func(key string) bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if strings.HasPrefix(key, prefix) && !add(key) {
			return nil
		}
	}
	return nil
}

func (b *bucket) Create(_ context.Context, key string, old objects.Info) (writer.Draft, error) {
	return &draft{bucket: b, key: key, old: old}, nil
}

func (b *bucket) Remove(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, key)
	return nil
}

func (b *bucket) AbortDraft(context.Context, string, string) error { return nil }

type draft struct {
	bytes.Buffer
	bucket *bucket
	key    string
	old    objects.Info
}

func (d *draft) Publish(int64) error {
	b := d.bucket
	b.mu.Lock()
	defer b.mu.Unlock()
	if o, ok := b.objects[d.key]; ok != (d.old.ETag != "") || ok && d.old.ETag != fmt.Sprint(o.version) {
		return objects.ErrChanged
	}
	b.versions++
	b.objects[d.key] = object{d.String(), b.versions}
	return nil
}

func (d *draft) Discard() error { return nil }
