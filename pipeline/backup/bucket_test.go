package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/objects"
	"github.com/bulkcat/bulkcat/writer"
)

// bucket is an object storage in memory, with faults.
type bucket struct {
	mu      sync.Mutex
	objects map[string]version
	next    int
	fault   func(op, key string) error // nil for none
}

type version struct {
	text string
	etag string
}

var buckets sync.Map // by name

func init() {
	objects.Register("mem", func(_ context.Context, name string, _ url.Values) (objects.Bucket, error) {
		b, _ := buckets.Load(name)
		return b.(*bucket), nil
	})
}

func newBucket(t *testing.T) (b *bucket, place string) {
	t.Helper()
	name := rand.Text()
	b = &bucket{objects: make(map[string]version)}
	buckets.Store(name, b)
	return b, "mem://" + name + "/copy"
}

func (b *bucket) fail(op, key string) error {
	if b.fault == nil {
		return nil
	}
	return b.fault(op, strings.TrimPrefix(key, "copy/"))
}

func (b *bucket) disturb(fault func(op, key string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

// names are the objects, without the folder.
func (b *bucket) names() (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		names = append(names, strings.TrimPrefix(key, "copy/"))
	}
	return names
}

func (b *bucket) put(key, text string) {
	b.next++
	b.objects[key] = version{text, fmt.Sprint(b.next)}
}

func (b *bucket) Stat(_ context.Context, key string) (objects.Info, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail("stat", key); err != nil {
		return objects.Info{}, err
	}
	v, ok := b.objects[key]
	if !ok {
		return objects.Info{}, fs.ErrNotExist
	}
	return objects.Info{Size: int64(len(v.text)), ETag: v.etag}, nil
}

func (b *bucket) Read(_ context.Context, key string, old objects.Info, offset, length int64) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.objects[key]
	if v.etag != old.ETag {
		return nil, objects.ErrChanged
	}
	return io.NopCloser(strings.NewReader(v.text[offset:min(offset+length, int64(len(v.text)))])), nil
}

func (b *bucket) List(_ context.Context, prefix string, add func(string) bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if strings.HasPrefix(key, prefix) && !add(key) {
			break
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
	if err := b.fail("remove", key); err != nil {
		return err
	}
	delete(b.objects, key)
	return nil
}

func (*bucket) AbortDraft(context.Context, string, string) error { return nil }

type draft struct {
	bytes.Buffer
	bucket *bucket
	key    string
	old    objects.Info
}

func (d *draft) Publish(size int64) error {
	d.bucket.mu.Lock()
	defer d.bucket.mu.Unlock()
	if err := d.bucket.fail("publish", d.key); err != nil {
		return err
	}
	if d.bucket.objects[d.key].etag != d.old.ETag {
		return objects.ErrChanged
	}
	if size != int64(d.Len()) {
		return io.ErrShortWrite
	}
	d.bucket.put(d.key, d.String())
	return nil
}

func (*draft) Discard() error { return nil }
