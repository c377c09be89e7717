package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Objects has the buckets that URLs name, each opened once, with the parameters of the URLs. Its errors name the object, as an
// error of package os names the file. Several Objects share no buckets, so a bucket with one name may be at two endpoints. Objects
// implements the storages of packages reader and writer. The zero value has no parameters.
type Objects struct{ places sync.Map } // "scheme://bucket" to *place

// place is a bucket with its parameters.
type place struct {
	mu         sync.Mutex
	parameters url.Values
	bucket     Bucket // nil before it is opened
}

func (o *Objects) place(name string) *place {
	p, _ := o.places.LoadOrStore(name, new(place))
	return p.(*place)
}

// key is the key of the Objects in a context.
type key struct{}

// common is the Objects of contexts without Objects.
var common = new(Objects)

// With returns a context whose calls of this package use o.
func With(ctx context.Context, o *Objects) context.Context { return context.WithValue(ctx, key{}, o) }

// From returns the Objects of a context, or the common Objects of contexts without Objects.
func From(ctx context.Context) *Objects {
	if o, ok := ctx.Value(key{}).(*Objects); ok {
		return o
	}
	return common
}

// Own returns the Objects of a context, or new Objects if the context has none.
func Own(ctx context.Context) *Objects {
	if o := From(ctx); o != common {
		return o
	}
	return new(Objects)
}

// open returns the bucket and the key of a URL without parameters. Opening a bucket may take a while, and does not block other
// buckets.
func (o *Objects) open(ctx context.Context, path string) (Bucket, string, error) {
	name, key, err := parse(path)
	if err != nil {
		return nil, "", err
	}
	p := o.place(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bucket == nil {
		scheme, bucket, _ := strings.Cut(name, "://")
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		opened, err := schemes[scheme](ctx, bucket, p.parameters)
		if err != nil {
			return nil, "", fmt.Errorf("open %s: %w", name, err)
		}
		p.bucket = limited{opened}
	}
	return p.bucket, key, nil
}

// Open opens the present version of an object for reading.
func (o *Objects) Open(ctx context.Context, url string) (reader.Source, error) {
	bucket, key, err := o.open(ctx, url)
	if err != nil {
		return nil, failed("open", url, err)
	}
	s, err := openSource(ctx, bucket, key)
	if err != nil {
		return nil, failed("open", url, err)
	}
	return s, nil
}

// List returns the URLs that begin with prefix, in lexical order. Keys that end in "/", which some tools make for
// folders, are left out.
func (o *Objects) List(ctx context.Context, prefix string) ([]string, error) {
	found, err := o.list(ctx, prefix, math.MaxInt)
	maps.DeleteFunc(found, func(url string, _ bool) bool { return strings.HasSuffix(url, "/") })
	return slices.Sorted(maps.Keys(found)), err
}

// emptyPages is how many empty pages of a list may follow each other. Servers that skip removed objects send some.
const emptyPages = 100

// list returns at least enough of the URLs that begin with prefix, or all. A list that repeats a key or a token, or has keys
// without the prefix, is an error: it may have no end, or name the wrong inputs.
func (o *Objects) list(ctx context.Context, prefix string, enough int) (map[string]bool, error) {
	bucket, start, err := o.open(ctx, prefix)
	if err != nil {
		return nil, err
	}
	root, found, empty := strings.TrimSuffix(prefix, start), make(map[string]bool), 0
	for token := ""; ; {
		keys, next, err := bucket.List(ctx, start, token)
		for _, key := range keys {
			switch url := root + key; {
			case !strings.HasPrefix(key, start):
				err = fmt.Errorf("%w: the list has the key %q, which does not begin with %q", errWrong, key, start)
			case found[url]:
				err = fmt.Errorf("%w: the list has the key %q twice", errWrong, key)
			default:
				found[url] = true
			}
		}
		if empty++; len(keys) > 0 {
			empty = 0
		}
		if empty > emptyPages || next != "" && next == token {
			err = fmt.Errorf("%w: the list has pages without an end", errWrong)
		}
		if err != nil {
			return nil, failed("list", prefix, err)
		}
		if next == "" || len(found) >= enough {
			return found, nil
		}
		token = next
	}
}

// ReadDir returns the names of the objects and of the folders in a folder. It lists all objects below the folder.
func (o *Objects) ReadDir(ctx context.Context, dir string) ([]string, error) {
	dir = strings.TrimRight(dir, "/") + "/"
	urls, err := o.List(ctx, dir)
	var names []string
	for _, url := range urls {
		name, _, _ := strings.Cut(url[len(dir):], "/")
		names = append(names, name)
	}
	slices.Sort(names) // "a.csv" sorts before "a/b", but after "a"
	return slices.Compact(names), err
}

// Prepare checks that the bucket can be reached, and is there: only a list tells a missing bucket from a missing object.
// Folders need not be created.
func (o *Objects) Prepare(ctx context.Context, url string, _ bool) error {
	_, err := o.Open(ctx, url)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err = o.list(ctx, url, 1); errors.Is(err, errNoBucket) {
		return err
	}
	return nil
}

// Create starts a draft that replaces only the present version of an object.
func (o *Objects) Create(ctx context.Context, url string) (disk.Draft, error) {
	bucket, key, err := o.open(ctx, url)
	if err != nil {
		return nil, err
	}
	old, err := bucket.Stat(ctx, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("create", url, err)
	}
	return newDraft(ctx, bucket, key, old), nil
}

// Remove removes an object. The error of a missing object is nil.
func (o *Objects) Remove(ctx context.Context, url string) error {
	bucket, key, err := o.open(ctx, url)
	if err != nil {
		return err
	}
	if err = bucket.Remove(ctx, key); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed("remove", url, err)
}

// RemoveDrafts does nothing: the storage removes the uploads of killed processes, by a rule of the bucket.
func (o *Objects) RemoveDrafts(context.Context, string, func(string) bool) {}
