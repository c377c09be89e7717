package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// Files is all object storage, as reader.Storage and writer.Storage. Its paths are URLs.
type Files struct{}

// Of returns the storage of a path: nil, for the file system of the machine, or Files.
func Of(path string) writer.Storage {
	if IsURL(path) {
		return Files{}
	}
	return nil
}

// callTimeout bounds a call with its retries.
const callTimeout = 5 * time.Minute

func call(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return f(ctx)
}

// Open opens the present version of an object for reading.
func (Files) Open(ctx context.Context, url string) (reader.Source, error) {
	return openSource(ctx, url)
}

// List returns the URLs that begin with prefix, in lexical order. Keys that end in "/", which some tools make for
// folders, are left out.
func (Files) List(ctx context.Context, prefix string) ([]string, error) {
	bucket, key, err := open(ctx, prefix)
	if err != nil {
		return nil, err
	}
	root, found, again := strings.TrimSuffix(prefix, key), make(map[string]bool), ""
	err = call(ctx, func(ctx context.Context) error {
		return list(ctx, bucket, key, func(key string) bool {
			if found[root+key] {
				again = key
				return false
			}
			found[root+key] = true
			return true
		})
	})
	if again != "" {
		err = &ListError{fmt.Sprintf("the key %q twice", again)}
	}
	if err != nil {
		return nil, failed("list", prefix, err)
	}
	maps.DeleteFunc(found, func(url string, _ bool) bool { return strings.HasSuffix(url, "/") })
	return slices.Sorted(maps.Keys(found)), nil
}

// list is bucket.List. It refuses keys that were not asked for.
func list(ctx context.Context, bucket Bucket, prefix string, add func(key string) bool) error {
	var foreign error
	err := bucket.List(ctx, prefix, func(key string) bool {
		if !strings.HasPrefix(key, prefix) {
			foreign = &ListError{fmt.Sprintf("the key %q, which does not begin with %q", key, prefix)}
			return false
		}
		return add(key)
	})
	return cmp.Or(foreign, err)
}

// Prepare checks that the bucket can be reached. Folders need not be created.
func (Files) Prepare(ctx context.Context, url string, _ bool) error {
	_, err := Stat(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveDrafts removes the drafts that processes of this machine have left.
func (Files) RemoveDrafts(ctx context.Context, dir string, match func(name string) bool) {
	for _, d := range leftDrafts() {
		if folder, name := path.Split(d.URL); strings.TrimRight(folder, "/") != strings.TrimRight(dir, "/") || !match(name) {
			continue
		}
		bucket, key, err := open(ctx, d.URL)
		if err == nil {
			err = call(ctx, func(ctx context.Context) error { return bucket.AbortDraft(ctx, key, d.ID) })
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			d.forget()
		}
	}
}

func (Files) Create(ctx context.Context, url string) (draft writer.Draft, err error) {
	bucket, key, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	var old Info
	err = call(ctx, func(ctx context.Context) error { old, err = bucket.Stat(ctx, key); return err })
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		draft, err = bucket.Create(ctx, key, old)
	}
	return draft, failed("create", url, err)
}

// ReadDir returns the names of the objects and of the folders in a folder. It lists all objects below the folder.
func (f Files) ReadDir(ctx context.Context, dir string) ([]string, error) {
	dir = strings.TrimRight(dir, "/") + "/"
	urls, err := f.List(ctx, dir)
	var names []string
	for _, url := range urls {
		name, _, _ := strings.Cut(url[len(dir):], "/")
		names = append(names, name)
	}
	slices.Sort(names) // "a.csv" is before "a/b", but after the folder "a"
	return slices.Compact(names), err
}

func (Files) Remove(ctx context.Context, url string) error {
	bucket, key, err := open(ctx, url)
	if err != nil {
		return err
	}
	return failed("remove", url, call(ctx, func(ctx context.Context) error { return bucket.Remove(ctx, key) }))
}

// Stat describes an object. The error is fs.ErrNotExist if there is none.
func Stat(ctx context.Context, url string) (info Info, err error) {
	bucket, key, err := open(ctx, url)
	if err != nil {
		return info, err
	}
	err = call(ctx, func(ctx context.Context) error { info, err = bucket.Stat(ctx, key); return err })
	return info, failed("stat", url, err)
}

// Size returns the size of a file or an object in bytes.
func Size(ctx context.Context, path string) (int64, error) {
	if IsURL(path) {
		info, err := Stat(ctx, path)
		return info.Size, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// OpenFile opens a regular file or an object.
func OpenFile(ctx context.Context, path string) (reader.Source, error) {
	if IsURL(path) {
		return openSource(ctx, path)
	}
	return regular.Open(path)
}

// mostBytes bounds what ReadFile reads. The largest files of this program are the manifests of folders with a hundred
// thousand parts, which have some hundred bytes for each part.
const mostBytes = 256 << 20

// ReadFile reads a file of this program, or an object, which has 256 MiB at most.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	f, err := OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return regular.ReadAll(f, path, mostBytes)
}

// Exists reports whether there is a file, a folder or an object at path.
func Exists(ctx context.Context, path string) (bool, error) {
	if IsURL(path) {
		if strings.HasSuffix(path, "/") {
			return IsFolder(ctx, path)
		}
		_, err := Stat(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	_, err := os.Lstat(path)
	return err == nil, nil
}

// IsFolder reports whether a path is a folder, or objects have names below it.
func IsFolder(ctx context.Context, path string) (found bool, err error) {
	if !IsURL(path) {
		info, err := os.Stat(path)
		return err == nil && info.IsDir(), err
	}
	bucket, key, err := open(ctx, strings.TrimRight(path, "/")+"/")
	if err != nil {
		return false, err
	}
	err = call(ctx, func(ctx context.Context) error {
		return list(ctx, bucket, key, func(string) bool { found = true; return false })
	})
	return found, failed("list", path, err)
}

// ReadDir returns the names of the files and the folders in a folder, which may be a URL, in lexical order.
func ReadDir(ctx context.Context, path string) (names []string, err error) {
	if IsURL(path) {
		return Files{}.ReadDir(ctx, path)
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Publish writes data to a path whole or not at all: see writer.PublishFile.
func Publish(ctx context.Context, path string, data []byte) error {
	if IsURL(path) {
		return writer.PublishIn(ctx, Files{}, path, data)
	}
	return writer.PublishFile(path, data)
}

// CreateFile writes data to a path whole or not at all, unless a file or an object is there: see writer.CreateFile.
// Of several programs on several machines, one creates the object.
func CreateFile(ctx context.Context, path string, data []byte) (created bool, err error) {
	if !IsURL(path) {
		return writer.CreateFile(path, data)
	}
	bucket, key, err := open(ctx, path)
	if err != nil {
		return false, err
	}
	err = call(ctx, func(ctx context.Context) error {
		draft, err := bucket.Create(ctx, key, Info{})
		if err == nil {
			_, err = draft.Write(data)
		}
		if err == nil {
			err = draft.Publish(int64(len(data)))
		}
		if err != nil && draft != nil {
			err = errors.Join(err, draft.Discard())
		}
		return err
	})
	if errors.Is(err, ErrChanged) {
		return false, nil
	}
	return err == nil, failed("create", path, err)
}

// Remove removes a file or an object, if there is one.
func Remove(ctx context.Context, path string) error {
	if IsURL(path) {
		return Files{}.Remove(ctx, path)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
