package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	// partSize is the size of a part of an upload in bytes, which is in memory while it is sent; S3 wants 5 MiB.
	partSize = 8 << 20
	// doubleEvery is the number of parts after which the part size doubles: an upload has at most 10,000 parts.
	doubleEvery = 1000
	// draftKey is the metadata by which a draft recognizes its object, if the response to its publication was lost.
	draftKey = "bulkcat-draft"
	// discardTimeout bounds the abort of an upload. The next run for the same output tries again.
	discardTimeout = 5 * time.Second
)

// s3Draft is an object that is being uploaded. An object of less than a part is one request at its publication.
// Nothing is visible before: neither Discard nor the end of the process completes an upload.
type s3Draft struct {
	ctx    context.Context // of Create, for the other calls
	bucket *s3Bucket
	key    string
	old    Info
	token  string // the value of draftKey
	etag   string // of the response to the publication

	buf   []byte
	size  int64 // bytes of all parts
	id    string
	note  leftDraft
	parts []types.CompletedPart
}

func newS3Draft(ctx context.Context, b *s3Bucket, key string, old Info) *s3Draft {
	return &s3Draft{ctx: ctx, bucket: b, key: key, old: old, token: rand.Text()}
}

func (d *s3Draft) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		more := min(len(p), d.nextSize()-len(d.buf))
		d.buf = append(d.buf, p[:more]...)
		n, p = n+more, p[more:]
		if len(d.buf) == d.nextSize() {
			err = call(d.ctx, d.sendPart)
		}
	}
	return n, err
}

// nextSize is the size of the next part.
func (d *s3Draft) nextSize() int { return partSize << (len(d.parts) / doubleEvery) }

func (d *s3Draft) sendPart(ctx context.Context) error {
	if d.id == "" {
		if err := d.begin(ctx); err != nil {
			return err
		}
	}
	number := aws.Int32(int32(len(d.parts) + 1))
	out, err := d.bucket.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &d.bucket.name, Key: &d.key, UploadId: &d.id, PartNumber: number,
		Body: bytes.NewReader(d.buf), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return s3Error(err)
	}
	d.parts = append(d.parts, types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
	d.size += int64(len(d.buf))
	d.buf = d.buf[:0]
	if len(d.parts)%doubleEvery != 0 {
		d.buf = slices.Grow(d.buf, d.nextSize())
	}
	return nil
}

func (d *s3Draft) begin(ctx context.Context) error {
	out, err := d.bucket.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &d.bucket.name, Key: &d.key, Metadata: d.metadata(), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return s3Error(err)
	}
	d.id = aws.ToString(out.UploadId)
	d.note, err = noteDraft("s3://"+d.bucket.name+"/"+d.key, d.id)
	return err
}

func (d *s3Draft) metadata() map[string]string { return map[string]string{draftKey: d.token} }

func (d *s3Draft) Publish(size int64) error {
	if written := d.size + int64(len(d.buf)); written != size {
		return errShort(size, written)
	}
	err := call(d.ctx, func(ctx context.Context) error {
		if d.id == "" {
			return d.put(ctx)
		}
		return d.complete(ctx)
	})
	if stored := d.stored(size); stored != nil {
		return cmp.Or(err, stored)
	}
	d.buf = nil
	d.end()
	return nil
}

// condition returns the headers by which the object is replaced only if it is what it was.
func (d *s3Draft) condition() (ifMatch, ifNoneMatch *string) {
	if d.old.ETag == "" {
		return nil, aws.String("*")
	}
	return &d.old.ETag, nil
}

func (d *s3Draft) put(ctx context.Context) error {
	in := &s3.PutObjectInput{Bucket: &d.bucket.name, Key: &d.key, Body: bytes.NewReader(d.buf), Metadata: d.metadata()}
	in.IfMatch, in.IfNoneMatch = d.condition()
	out, err := d.bucket.client.PutObject(ctx, in)
	if err == nil {
		d.etag = aws.ToString(out.ETag)
	}
	return s3Error(err)
}

func (d *s3Draft) complete(ctx context.Context) error {
	if len(d.buf) > 0 {
		if err := d.sendPart(ctx); err != nil {
			return err
		}
	}
	in := &s3.CompleteMultipartUploadInput{
		Bucket: &d.bucket.name, Key: &d.key, UploadId: &d.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: d.parts},
	}
	in.IfMatch, in.IfNoneMatch = d.condition()
	out, err := d.bucket.client.CompleteMultipartUpload(ctx, in)
	if err == nil {
		d.etag = aws.ToString(out.ETag)
	}
	if err = s3Error(err); errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the upload was aborted by another program")
	}
	return err
}

// stored returns nil if the object at the key is this draft: its publication may have succeeded although the response was
// lost, and the next attempt then failed; or the storage may have acknowledged what it did not keep.
func (d *s3Draft) stored(size int64) error {
	return call(d.ctx, func(ctx context.Context) error {
		out, err := d.bucket.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &d.bucket.name, Key: &d.key})
		if err = s3Error(err); errors.Is(err, fs.ErrNotExist) {
			return errNotStored
		}
		if err != nil {
			return fmt.Errorf("the object cannot be checked after its publication: %w", err)
		}
		ours := out.Metadata[draftKey] == d.token || d.etag != "" && aws.ToString(out.ETag) == d.etag
		if !ours || aws.ToInt64(out.ContentLength) != size {
			return errNotStored
		}
		return nil
	})
}

// Discard aborts the upload, with a context of its own: that of the run may be done.
func (d *s3Draft) Discard() error {
	d.buf = nil
	if d.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), discardTimeout)
	defer cancel()
	err := call(ctx, func(ctx context.Context) error { return d.bucket.AbortDraft(ctx, d.key, d.id) })
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		d.end()
	}
	return err
}

// end forgets the upload.
func (d *s3Draft) end() {
	if d.id != "" {
		d.note.forget()
		d.id = ""
	}
}
