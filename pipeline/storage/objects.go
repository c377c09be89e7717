package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Objects is all object storage, as Storage and as reader.Storage. Its paths are URLs. Its errors name the object, as an
// error of package os names the file.
type Objects struct{}

// Open opens the present version of an object for reading.
func (Objects) Open(ctx context.Context, url string) (reader.Source, error) {
	s, err := openSource(ctx, url)
	if err != nil {
		return nil, failed("open", url, err)
	}
	return s, nil
}

func (Objects) Stat(ctx context.Context, url string) (fs.FileInfo, error) {
	bucket, key, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	info, err := bucket.Stat(ctx, key)
	return fileInfo{path.Base(key), info}, failed("stat", url, err)
}

func (o Objects) Exists(ctx context.Context, url string) (bool, error) {
	if strings.HasSuffix(url, "/") {
		return o.IsFolder(ctx, url)
	}
	_, err := o.Stat(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (Objects) IsFolder(ctx context.Context, url string) (found bool, err error) {
	bucket, key, err := open(ctx, strings.TrimRight(url, "/")+"/")
	if err != nil {
		return false, err
	}
	err = list(ctx, bucket, key, func(string) error { found = true; return errEnough })
	return found, failed("list", url, err)
}

// List returns the URLs that begin with prefix, in lexical order. Keys that end in "/", which some tools make for
// folders, are left out.
func (Objects) List(ctx context.Context, prefix string) ([]string, error) {
	bucket, key, err := open(ctx, prefix)
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
func (o Objects) ReadDir(ctx context.Context, dir string) ([]string, error) {
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
func (o Objects) Prepare(ctx context.Context, url string, _ bool) error {
	if _, err := o.Stat(ctx, url); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Create starts a draft that replaces the present version of an object, and no other.
func (Objects) Create(ctx context.Context, url string) (writer.Draft, error) {
	bucket, key, err := open(ctx, url)
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
func (Objects) CreateFile(ctx context.Context, url string, data []byte) (created bool, err error) {
	bucket, key, err := open(ctx, url)
	if err != nil {
		return false, err
	}
	err = PublishDraft(newDraft(ctx, bucket, url, key, Info{}), func(w io.Writer) (int64, error) {
		n, err := w.Write(data)
		return int64(n), err
	})
	if errors.Is(err, ErrChanged) {
		return false, nil
	}
	return err == nil, failed("create", url, err)
}

// Remove removes an object. The error of a missing object is nil.
func (Objects) Remove(ctx context.Context, url string) error {
	bucket, key, err := open(ctx, url)
	if err != nil {
		return err
	}
	if err = bucket.Remove(ctx, key); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed("remove", url, err)
}

// RemoveDrafts removes the drafts that processes of this machine have left.
func (Objects) RemoveDrafts(ctx context.Context, dir string, match func(name string) bool) {
	for _, d := range leftDrafts() {
		if folder, name := path.Split(d.URL); strings.TrimRight(folder, "/") != strings.TrimRight(dir, "/") || !match(name) {
			continue
		}
		bucket, key, err := open(ctx, d.URL)
		if err == nil {
			err = bucket.Abort(ctx, key, d.ID)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			d.forget()
		}
	}
}
