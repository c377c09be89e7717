package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Objects is object storage: the buckets that URLs name, each opened once, with the parameters of these URLs. Its errors name
// the object, as an error of package os names the file. Several Objects know nothing of each other, so that a bucket of one
// name may be at two places. It implements the storages of packages reader and writer.
type Objects struct {
	mu         sync.Mutex
	parameters map[string]url.Values // by "scheme://bucket"
	buckets    map[string]*opening   // the same
}

// New returns an Objects without parameters.
func New() *Objects {
	return &Objects{parameters: make(map[string]url.Values), buckets: make(map[string]*opening)}
}

// key is that of the Objects in a context.
type key struct{}

// common is the Objects of contexts without one.
var common = New()

// With returns a context whose calls of this package use o.
func With(ctx context.Context, o *Objects) context.Context { return context.WithValue(ctx, key{}, o) }

// From returns the Objects of a context, or those of all contexts without any.
func From(ctx context.Context) *Objects {
	if o, ok := ctx.Value(key{}).(*Objects); ok {
		return o
	}
	return common
}

// Own returns the Objects of a context, and new ones if it has none.
func Own(ctx context.Context) *Objects {
	if o := From(ctx); o != common {
		return o
	}
	return New()
}

// opening is a bucket that is being opened, or is open.
type opening struct {
	done   chan struct{} // closed when bucket and err are set
	bucket Bucket
	err    error
}

// open returns the bucket and the key of a URL without parameters. To open a bucket may take a while; other buckets do not
// wait.
func (o *Objects) open(ctx context.Context, path string) (Bucket, string, error) {
	name, key, err := parse(path)
	if err != nil {
		return nil, "", err
	}
	scheme, bucket, _ := strings.Cut(name, "://")
	opener := schemes[scheme]
	if opener == nil {
		return nil, "", unknownScheme(path, scheme)
	}
	o.mu.Lock()
	b, parameters := o.buckets[name], o.parameters[name]
	if b == nil {
		b = &opening{done: make(chan struct{})}
		o.buckets[name] = b
		o.mu.Unlock()
		opened, err := opener(ctx, bucket, parameters)
		if b.bucket = (guarded{opened}); err != nil {
			b.err = fmt.Errorf("open %s: %w", name, err)
			o.forget(name, b)
		}
		close(b.done)
	} else {
		o.mu.Unlock()
	}
	select {
	case <-b.done: // also if the context has ended
		return b.bucket, key, b.err
	default:
	}
	select {
	case <-b.done:
		return b.bucket, key, b.err
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
}

// forget lets the next caller open the bucket again.
func (o *Objects) forget(name string, b *opening) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buckets[name] == b {
		delete(o.buckets, name)
	}
}

// Open opens the present version of an object for reading.
func (o *Objects) Open(ctx context.Context, url string) (reader.Source, error) {
	s, err := o.openSource(ctx, url)
	if err != nil {
		return nil, failed("open", url, err)
	}
	return s, nil
}

// Stat describes the present version of an object.
func (o *Objects) Stat(ctx context.Context, url string) (fs.FileInfo, error) {
	bucket, key, err := o.open(ctx, url)
	if err != nil {
		return nil, err
	}
	info, err := bucket.Stat(ctx, key)
	return fileInfo{path.Base(key), info}, failed("stat", url, err)
}

// IsFolder reports whether objects have names below a URL.
func (o *Objects) IsFolder(ctx context.Context, url string) (found bool, err error) {
	bucket, key, err := o.open(ctx, strings.TrimRight(url, "/")+"/")
	if err != nil {
		return false, err
	}
	err = list(ctx, bucket, key, func(string) error { found = true; return errEnough })
	return found, failed("list", url, err)
}

// List returns the URLs that begin with prefix, in lexical order. Keys that end in "/", which some tools make for
// folders, are left out.
func (o *Objects) List(ctx context.Context, prefix string) ([]string, error) {
	bucket, key, err := o.open(ctx, prefix)
	if err != nil {
		return nil, err
	}
	root, found := strings.TrimSuffix(prefix, key), make(map[string]bool)
	err = list(ctx, bucket, key, func(key string) error {
		if found[root+key] {
			return &ListError{fmt.Sprintf("the key %q twice", key)}
		}
		found[root+key] = true
		return nil
	})
	if err != nil {
		return nil, failed("list", prefix, err)
	}
	maps.DeleteFunc(found, func(url string, _ bool) bool { return strings.HasSuffix(url, "/") })
	return slices.Sorted(maps.Keys(found)), nil
}

// emptyPages of a list may follow each other. Servers that skip removed objects send some.
const emptyPages = 100

// errEnough ends a list before its end.
var errEnough = errors.New("the list is read far enough")

// list calls add for the keys that begin with prefix until add returns an error. The error is a *ListError for keys that
// were not asked for, and for a list without an end.
func list(ctx context.Context, bucket Bucket, prefix string, add func(key string) error) error {
	tokens, empty := make(map[string]bool), 0
	for token := ""; ; {
		page, err := bucket.List(ctx, prefix, token)
		if err != nil {
			return err
		}
		for _, key := range page.Keys {
			err := add(key)
			if !strings.HasPrefix(key, prefix) {
				err = &ListError{fmt.Sprintf("the key %q, which does not begin with %q", key, prefix)}
			}
			if err == errEnough {
				return nil
			}
			if err != nil {
				return err
			}
		}
		if empty++; len(page.Keys) > 0 {
			empty = 0
		}
		token = page.Next
		if token == "" {
			return nil
		}
		if tokens[token] || empty > emptyPages {
			return &ListError{"pages without an end"}
		}
		tokens[token] = true
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
	slices.Sort(names) // "a.csv" is before "a/b", but after the folder "a"
	return slices.Compact(names), err
}

// Prepare checks that the bucket can be reached. Folders need not be created.
func (o *Objects) Prepare(ctx context.Context, url string, _ bool) error {
	if _, err := o.Stat(ctx, url); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Create starts a draft that replaces the present version of an object, and no other.
func (o *Objects) Create(ctx context.Context, url string) (writer.Draft, error) {
	bucket, key, err := o.open(ctx, url)
	if err != nil {
		return nil, err
	}
	old, err := bucket.Stat(ctx, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("create", url, err)
	}
	return newDraft(ctx, bucket, url, key, old), nil
}

// CreateFile creates an object unless there is one. Of several programs on several machines, one does.
func (o *Objects) CreateFile(ctx context.Context, url string, data []byte) (created bool, err error) {
	bucket, key, err := o.open(ctx, url)
	if err != nil {
		return false, err
	}
	d := newDraft(ctx, bucket, url, key, Info{})
	if _, err = d.Write(data); err == nil {
		err = d.Publish(int64(len(data)))
	}
	if err != nil {
		err = errors.Join(err, d.Discard())
	}
	if errors.Is(err, ErrChanged) {
		return false, nil
	}
	return err == nil, failed("create", url, err)
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

// RemoveDrafts removes the drafts that processes of this machine have left.
func (o *Objects) RemoveDrafts(ctx context.Context, dir string, match func(name string) bool) {
	for _, d := range leftDrafts() {
		if folder, name := path.Split(d.URL); strings.TrimRight(folder, "/") != strings.TrimRight(dir, "/") || !match(name) {
			continue
		}
		bucket, key, err := o.open(ctx, d.URL)
		if err == nil {
			err = bucket.Abort(ctx, key, d.ID)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			d.forget()
		}
	}
}
