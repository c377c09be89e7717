package storage

import (
	"context"
	"io"
	"time"
)

// Bucket is a bucket of an object storage. Each method makes one request. The time limits, the repetitions and the checks of
// the responses are those of this package for every bucket: see guarded. The error of a missing object is fs.ErrNotExist,
// that of an object with another version than expected ErrChanged, and that of a request which may succeed if it is
// repeated a *TransientError.
type Bucket interface {
	// Stat describes the present version of an object.
	Stat(ctx context.Context, key string) (Info, error)
	// Read asks for a range of a version of an object. A length of 0, of an empty object, asks whether it is empty.
	Read(ctx context.Context, key string, version Info, offset, length int64) (*Body, error)
	// List returns a page of the keys that begin with prefix. The token of the first page is "".
	List(ctx context.Context, prefix, token string) (Page, error)
	// Write returns an object that is being written, without a request.
	Write(t Target) Upload
	// Remove removes an object.
	Remove(ctx context.Context, key string) error
	// Abort removes an upload in parts that a killed process has left.
	Abort(ctx context.Context, key, id string) error
}

// Info describes a version of an object.
type Info struct {
	Size     int64 // bytes; -1 if the storage does not say
	ETag     string
	Modified time.Time
	Token    string // of the Target with which this program has written the object
}

// Body is the response to Read, and what it says about itself.
type Body struct {
	io.ReadCloser
	ETag     string
	Modified time.Time
	Range    string // as in the header Content-Range, also for the whole object
}

// Page is a part of a list.
type Page struct {
	Keys []string
	Next string // the token of the next page; "" for none
}

// Target is an object that is to be written.
type Target struct {
	Key   string
	Old   Info                  // the version that is replaced, and no other; the zero Info stands for no object
	Token string                // is stored with the object, so that its writer recognizes it
	Begun func(id string) error // is called when an upload has a name for Bucket.Abort, unless the storage itself removes those of killed processes
}

// Upload is an object that is being written. Nothing is visible before Put or Complete.
type Upload interface {
	// Put writes the object with one request. The ETag is empty if the response does not say.
	Put(ctx context.Context, data []byte) (etag string, err error)
	// Part sends the next part of a larger object, and begins the upload in parts if this is the first.
	Part(ctx context.Context, data []byte) error
	// Complete publishes the object of the parts.
	Complete(ctx context.Context) (etag string, err error)
	// Abort removes the parts.
	Abort(ctx context.Context) error
}
