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
	DraftKey   = draftKey

	CallTimeout = callTimeout
	ReadTimeout = readTimeout
)

var (
	FirstPause   = &firstPause
	ErrNoVersion = errNoVersion
	ErrNotStored = errNotStored
)

// LeftDrafts returns the URLs of the drafts that have notes.
func LeftDrafts() (urls []string) {
	for _, d := range leftDrafts() {
		urls = append(urls, d.URL)
	}
	return urls
}

// Source opens a version of an object of a bucket.
func Source(ctx context.Context, b Bucket, version Info) interface {
	io.Reader
	io.ReaderAt
} {
	return &source{ctx: ctx, bucket: guarded{b}, key: "in.csv", info: version, keep: streamBlocks}
}

// OpenBucket returns the bucket and the key of a URL.
func OpenBucket(ctx context.Context, url string) (Bucket, string, error) {
	return From(ctx).open(ctx, url)
}
