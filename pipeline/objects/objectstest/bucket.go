// Package objectstest has an object storage in memory for tests: the URLs mem://NAME/..., each NAME a bucket of its own.
package objectstest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
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

// Bucket is a bucket in memory, with faults. A test uses Objects while nothing else uses the bucket.
type Bucket struct {
	mu      sync.Mutex
	Objects map[string]Version // by key
	next    int
	fault   func(op, key string) error // nil for none; keys are without the folder
}

// Version is the present version of an object.
type Version struct {
	Text string
	etag string
}

var buckets sync.Map // by name

func init() {
	objects.Register("mem", func(_ context.Context, name string, _ url.Values) (objects.Bucket, error) {
		b, _ := buckets.LoadOrStore(name, &Bucket{Objects: make(map[string]Version)})
		return b.(*Bucket), nil
	})
}

// New returns a bucket and the URL of its folder copy.
func New() (b *Bucket, url string) {
	name := rand.Text()
	b = &Bucket{Objects: make(map[string]Version)}
	buckets.Store(name, b)
	return b, "mem://" + name + "/copy"
}

// ErrHang is what a fault returns for a call that has no answer until its context ends.
var ErrHang = errors.New("no answer")

func (b *Bucket) fail(ctx context.Context, op, key string) error {
	b.mu.Lock()
	fault := b.fault
	b.mu.Unlock()
	if fault == nil {
		return nil
	}
	err := fault(op, strings.TrimPrefix(key, "copy/"))
	if err == ErrHang {
		<-ctx.Done()
		err = ctx.Err()
	}
	return err
}

// Disturb sets a function that decides which calls fail: Stat, Remove and Publish ("stat", "remove", "publish").
func (b *Bucket) Disturb(fault func(op, key string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

// Names are the objects, without the folder.
func (b *Bucket) Names() (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.Objects)) {
		names = append(names, strings.TrimPrefix(key, "copy/"))
	}
	return names
}

// Put makes a version of an object.
func (b *Bucket) Put(key, text string) {
	b.next++
	b.Objects[key] = Version{text, fmt.Sprint(b.next)}
}

func (b *Bucket) Stat(ctx context.Context, key string) (objects.Info, error) {
	if err := b.fail(ctx, "stat", key); err != nil {
		return objects.Info{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	v, ok := b.Objects[key]
	if !ok {
		return objects.Info{}, fs.ErrNotExist
	}
	return objects.Info{Size: int64(len(v.Text)), ETag: v.etag}, nil
}

func (b *Bucket) Read(_ context.Context, key string, old objects.Info, offset, length int64) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.Objects[key]
	if v.etag != old.ETag {
		return nil, objects.ErrChanged
	}
	return io.NopCloser(strings.NewReader(v.Text[offset:min(offset+length, int64(len(v.Text)))])), nil
}

func (b *Bucket) List(_ context.Context, prefix string, add func(string) bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.Objects)) {
		if strings.HasPrefix(key, prefix) && !add(key) {
			break
		}
	}
	return nil
}

func (b *Bucket) Create(ctx context.Context, key string, old objects.Info) (writer.Draft, error) {
	return &draft{ctx: ctx, bucket: b, key: key, old: old}, nil
}

func (b *Bucket) Remove(ctx context.Context, key string) error {
	if err := b.fail(ctx, "remove", key); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.Objects, key)
	return nil
}

func (*Bucket) AbortDraft(context.Context, string, string) error { return nil }

type draft struct {
	bytes.Buffer
	ctx    context.Context // of Create
	bucket *Bucket
	key    string
	old    objects.Info
}

func (d *draft) Publish(size int64) error {
	if err := d.bucket.fail(d.ctx, "publish", d.key); err != nil {
		return err
	}
	d.bucket.mu.Lock()
	defer d.bucket.mu.Unlock()
	if d.bucket.Objects[d.key].etag != d.old.ETag {
		return objects.ErrChanged
	}
	if size != int64(d.Len()) {
		return io.ErrShortWrite
	}
	d.bucket.Put(d.key, d.String())
	return nil
}

func (*draft) Discard() error { return nil }
