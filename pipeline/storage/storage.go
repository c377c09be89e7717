package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"time"
)

// Bucket is a bucket of object storage. Each method makes the requests of one operation, and repeats a request after a transient
// failure. The error is fs.ErrNotExist if the object is missing, and ErrChanged if the object has another version than expected.
// No error has a secret.
type Bucket interface {
	// Stat describes the present version of an object.
	Stat(ctx context.Context, key string) (Info, error)
	// Read returns a range of a version of an object. With a length of 0 it checks that an object of size 0 is empty.
	Read(ctx context.Context, key string, version Info, offset, length int64) (io.ReadCloser, error)
	// List returns a page of the keys that begin with prefix, and the token of the next page; "" for none.
	List(ctx context.Context, prefix, token string) (keys []string, next string, err error)
	// Put writes an object whole: nothing is visible before the end of the data, and nothing stays after an error of the data.
	// It replaces only the version old of the object; the zero Info stands for a missing object. The token is stored with the
	// object.
	Put(ctx context.Context, key string, data io.Reader, old Info, token string) error
	// Remove removes an object.
	Remove(ctx context.Context, key string) error
}

// Info describes a version of an object.
type Info struct {
	Size     int64 // bytes
	ETag     string
	Modified time.Time
	Token    string // of the Put that wrote the object
}

// Opener opens a bucket. The parameters are those of the URL.
type Opener func(ctx context.Context, name string, parameters url.Values) (Bucket, error)

// schemes are the object storages of the program, by the scheme of their URLs.
var schemes = map[string]Opener{"s3": openS3}

// Register adds an object storage for URLs with the scheme. Call it in an init function.
func Register(scheme string, open Opener) { schemes[scheme] = open }

// ErrChanged says that an object has another version than expected.
var ErrChanged = errors.New("the object has changed meanwhile: another program has written it")

var (
	errWrong     = errors.New("the storage, or a proxy before it, answers wrongly")
	errNotStored = errors.New("the storage has acknowledged the object, but does not have it as it was sent")
	errNoBucket  = errors.New("the bucket does not exist")
	errNoUpload  = errors.New("the upload was aborted by another program")
	errLeft      = errors.New("parts of an unfinished upload stay in the bucket")
	errDiscarded = errors.New("the draft is discarded")
)

const (
	// callTimeout bounds an operation with its repetitions. Completing a large upload takes minutes.
	callTimeout = 5 * time.Minute
	// readTimeout bounds the time in which a body is read. The next request continues after the bytes that were read.
	readTimeout = time.Minute
	// discardTimeout bounds the removal of an unfinished upload.
	discardTimeout = 5 * time.Second
)

// limited is a bucket with time limits. Read and Put have none: sources and drafts limit them.
type limited struct{ Bucket }

func (l limited) Stat(ctx context.Context, key string) (Info, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.Bucket.Stat(ctx, key)
}

func (l limited) List(ctx context.Context, prefix, token string) ([]string, string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.Bucket.List(ctx, prefix, token)
}

func (l limited) Remove(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.Bucket.Remove(ctx, key)
}

// rangeOf returns a range as in the header Content-Range.
func rangeOf(offset, length, size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", offset, offset+length-1, size)
}

// failed adds the operation and the URL to an error, as package os adds the path.
func failed(op, url string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: url, Err: err}
}
