package storage

import (
	"context"
	"io"
)

const (
	PartSize   = partSize
	BlockSize  = blockSize
	EmptyPages = emptyPages
	Attempts   = attempts
	TokenKey   = tokenKey

	CallTimeout = callTimeout
	ReadTimeout = readTimeout
)

var (
	MaxPause     = &maxPause
	ErrWrong     = errWrong
	ErrNotStored = errNotStored
)

// Source opens a version of an object of a bucket.
func Source(ctx context.Context, s Bucket, version Info) interface {
	io.Reader
	io.ReaderAt
} {
	return newSource(ctx, s, "in.csv", version)
}

// OpenBucket returns the bucket and the key of a URL.
func OpenBucket(ctx context.Context, url string) (Bucket, string, error) {
	return From(ctx).open(ctx, url)
}
