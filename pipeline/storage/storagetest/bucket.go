// Package storagetest has an object storage in memory for tests, with URLs mem://NAME/... Each NAME at each endpoint is a bucket of
// its own.
package storagetest

import (
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
	"time"

	"github.com/bulkcat/bulkcat/pipeline/storage"
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
	Text     string
	Modified time.Time
	etag     string
	token    string // of Put
}

var buckets sync.Map // by name and endpoint

func init() {
	storage.Register("mem", func(_ context.Context, name string, parameters url.Values) (storage.Bucket, error) {
		return At(name, parameters.Get("endpoint")), nil
	})
}

// At returns the bucket of a name at an endpoint, as in mem://NAME/KEY?endpoint=ENDPOINT.
func At(name, endpoint string) *Bucket {
	b, _ := buckets.LoadOrStore(name+"@"+endpoint, &Bucket{Objects: make(map[string]Version)})
	return b.(*Bucket)
}

// New returns a bucket and the URL of its folder copy.
func New() (b *Bucket, url string) {
	name := rand.Text()
	return At(name, ""), "mem://" + name + "/copy"
}

// ErrHang is the result of a fault that makes a call wait until its context ends.
var ErrHang = errors.New("no answer")

func (b *Bucket) fail(ctx context.Context, op, key string) error {
	b.mu.Lock()
	fault := b.fault
	b.mu.Unlock()
	if fault == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	err := fault(op, strings.TrimPrefix(key, "copy/"))
	if err == ErrHang {
		<-ctx.Done()
		err = ctx.Err()
	}
	return err
}

// Disturb sets the function that decides which calls fail. op is "stat", "read", "list", "remove" or "publish".
func (b *Bucket) Disturb(fault func(op, key string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

// Names returns the keys of the objects, without the folder.
func (b *Bucket) Names() (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.Objects)) {
		names = append(names, strings.TrimPrefix(key, "copy/"))
	}
	return names
}

// Set makes a new version of an object.
func (b *Bucket) Set(key, text string) {
	b.next++
	b.Objects[key] = Version{Text: text, Modified: time.Now(), etag: fmt.Sprint(b.next)}
}

func (b *Bucket) Stat(ctx context.Context, key string) (storage.Info, error) {
	if err := b.fail(ctx, "stat", key); err != nil {
		return storage.Info{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	v, ok := b.Objects[key]
	if !ok {
		return storage.Info{}, fs.ErrNotExist
	}
	return storage.Info{Size: int64(len(v.Text)), ETag: v.etag, Modified: v.Modified, Token: v.token}, nil
}

func (b *Bucket) Read(ctx context.Context, key string, version storage.Info, offset, length int64) (io.ReadCloser, error) {
	if err := b.fail(ctx, "read", key); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.Objects[key]
	if v.etag != version.ETag {
		return nil, storage.ErrChanged
	}
	return io.NopCloser(strings.NewReader(v.Text[offset:min(offset+length, int64(len(v.Text)))])), nil
}

// List returns one key per page.
func (b *Bucket) List(ctx context.Context, prefix, token string) (keys []string, next string, err error) {
	if err := b.fail(ctx, "list", prefix); err != nil {
		return nil, "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.Objects)) {
		if strings.HasPrefix(key, prefix) && key > token {
			return []string{key}, key, nil
		}
	}
	return nil, "", nil
}

func (b *Bucket) Put(ctx context.Context, key string, data io.Reader, old storage.Info, token string) error {
	text, err := io.ReadAll(data)
	if err == nil {
		err = b.fail(ctx, "publish", key)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Objects[key].etag != old.ETag {
		return storage.ErrChanged
	}
	b.Set(key, string(text))
	v := b.Objects[key]
	v.token = token
	b.Objects[key] = v
	return nil
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
