package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// Of returns the storage of a path: the file system of the machine, or the object storage of the context. The file system
// ignores contexts, so that the account of an interrupted run is written after the end of its context.
func Of(ctx context.Context, path string) disk.Storage {
	if IsURL(path) {
		return From(ctx)
	}
	return disk.Local{}
}

// Open opens a regular file, or the present version of an object. The end of ctx also ends the reads of an object.
func Open(ctx context.Context, path string) (reader.Source, error) {
	if IsURL(path) {
		return From(ctx).Open(ctx, path)
	}
	return regular.Open(path)
}

// Stat describes a regular file, or the present version of an object.
func Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return f.Stat()
}

// Exists reports whether a file, a folder or an object exists at path.
func Exists(ctx context.Context, path string) (bool, error) {
	if !IsURL(path) {
		_, err := os.Lstat(path)
		return err == nil, nil
	}
	if strings.HasSuffix(path, "/") {
		return IsFolder(ctx, path)
	}
	_, err := From(ctx).Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// IsFolder reports whether a path is a folder, or objects have names below it.
func IsFolder(ctx context.Context, path string) (bool, error) {
	if IsURL(path) {
		found, err := From(ctx).list(ctx, strings.TrimRight(path, "/")+"/", 1)
		return len(found) > 0, err
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir(), err
}

// ReadDir returns the names of the files and the folders in a folder, in lexical order.
func ReadDir(ctx context.Context, path string) ([]string, error) {
	return Of(ctx, path).ReadDir(ctx, path)
}

// Digest returns the size of a file, and its SHA-256 in hex. The end of ctx also ends the reads.
func Digest(ctx context.Context, path string) (size int64, sum string, err error) {
	f, err := Open(ctx, path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()                                          // only read from
	defer context.AfterFunc(ctx, func() { _ = f.Close() })() // a large file takes minutes
	hash := sha256.New()
	if size, err = io.Copy(hash, f); ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// mostBytes is the maximum size of a file for ReadFile. The largest files of this program are the manifests of folders with a
// hundred thousand parts, which have some hundred bytes for each part.
const mostBytes = 256 << 20

// ReadFile reads a file of this program, which has at most 256 MiB.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return regular.ReadAll(f, path, mostBytes)
}

// Publish writes data to a path whole or not at all: see disk.PublishFile.
func Publish(ctx context.Context, path string, data []byte) error {
	return disk.PublishIn(ctx, Of(ctx, path), path, data)
}

// CreateFile writes data to a path whole or not at all, unless a file or an object exists there. If several programs call it at
// once, one of them creates the file.
func CreateFile(ctx context.Context, path string, data []byte) (created bool, err error) {
	if !IsURL(path) {
		return disk.CreateFile(path, data)
	}
	bucket, key, err := From(ctx).open(ctx, path)
	if err != nil {
		return false, err
	}
	d := newDraft(ctx, bucket, key, Info{})
	if _, err = d.Write(data); err == nil {
		err = d.Publish(int64(len(data)))
	}
	if err != nil {
		err = errors.Join(err, d.Discard())
	}
	if errors.Is(err, ErrChanged) {
		return false, nil
	}
	return err == nil, failed("create", path, err)
}

// Remove removes a file or an object durably. The error of a missing file or object is nil.
func Remove(ctx context.Context, path string) error {
	if err := Of(ctx, path).Remove(ctx, path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
