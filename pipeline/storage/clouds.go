//go:build clouds

package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"

	gcs "cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcerrors"
)

func init() {
	Register("gs", openCloud("gs", google{}))
	Register("azblob", openCloud("azblob", microsoft{}))
}

// openCloud opens buckets of a cloud. Credentials and addresses come from the environment, as in the programs of the
// cloud itself.
func openCloud(scheme string, v versions) Opener {
	return func(ctx context.Context, name string, parameters url.Values) (Bucket, error) {
		if len(parameters) > 0 {
			return nil, fmt.Errorf("URLs of %s have no parameters: set them in the environment", scheme)
		}
		b, err := blob.OpenBucket(ctx, scheme+"://"+name)
		return &cloudBucket{b, v}, err
	}
}

// versions are the versions of objects in a cloud, and the conditions of requests. The function as is that of gocloud,
// which gives access to the types of the cloud.
type versions interface {
	of(*blob.Attributes) string
	read(as func(any) bool, version string) error  // only this version
	write(as func(any) bool, version string) error // only over this version
	served(r *blob.Reader, asked string) string    // the version in the response, or asked if it does not say
	start(r *blob.Reader) int64                    // of the range in the response
}

var errNoAccess = errors.New("the bucket has no conditional requests")

// google uses the generation of an object.
type google struct{}

func (google) of(a *blob.Attributes) string {
	var attrs gcs.ObjectAttrs
	a.As(&attrs)
	return strconv.FormatInt(attrs.Generation, 10)
}

func (google) read(as func(any) bool, version string) error {
	generation, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return err
	}
	var object **gcs.ObjectHandle
	if !as(&object) {
		return errNoAccess
	}
	*object = (*object).If(gcs.Conditions{GenerationMatch: generation})
	return nil
}

func (google) served(r *blob.Reader, asked string) string {
	var response *gcs.Reader
	if !r.As(&response) {
		return asked
	}
	return strconv.FormatInt(response.Attrs.Generation, 10)
}

func (google) start(r *blob.Reader) int64 {
	var response *gcs.Reader
	r.As(&response)
	return response.Attrs.StartOffset
}

func (g google) write(as func(any) bool, version string) error { return g.read(as, version) }

// microsoft uses the ETag of a blob.
type microsoft struct{}

func (microsoft) of(a *blob.Attributes) string { return a.ETag }

func (microsoft) read(as func(any) bool, version string) error {
	var o *azblob.DownloadStreamOptions
	if !as(&o) {
		return errNoAccess
	}
	o.AccessConditions = ifMatch(version)
	return nil
}

func (microsoft) write(as func(any) bool, version string) error {
	var o *azblob.UploadStreamOptions
	if !as(&o) {
		return errNoAccess
	}
	o.AccessConditions = ifMatch(version)
	return nil
}

func (microsoft) served(_ *blob.Reader, asked string) string { return asked }

// start is 0 for a response without Content-Range, which has the whole blob.
func (microsoft) start(r *blob.Reader) (start int64) {
	var response azblob.DownloadStreamResponse
	if r.As(&response) && response.ContentRange != nil {
		_, _ = fmt.Sscanf(*response.ContentRange, "bytes %d-", &start)
	}
	return start
}

func ifMatch(version string) *azure.AccessConditions {
	etag := azcore.ETag(version)
	return &azure.AccessConditions{ModifiedAccessConditions: &azure.ModifiedAccessConditions{IfMatch: &etag}}
}

// cloudBucket is a bucket of Google Cloud Storage or a container of Azure Blob Storage. The libraries of both clouds repeat
// requests, too, and those of uploads only they can repeat.
type cloudBucket struct {
	bucket   *blob.Bucket
	versions versions
}

// cloudError returns the error of a request, as Bucket describes it.
func cloudError(err error) error {
	text, transient := cloudText(err), gcs.ShouldRetry(err)
	if response, ok := errors.AsType[*azcore.ResponseError](err); ok {
		transient = response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests
	}
	if transient {
		return &TransientError{text}
	}
	return text
}

// cloudText types an error, and shortens those of Azure, whose text has the response and the URL with its tokens.
func cloudText(err error) error {
	code := gcerrors.Code(err)
	if response, ok := errors.AsType[*azcore.ResponseError](err); ok {
		err = fmt.Errorf("HTTP %d %s", response.StatusCode, response.ErrorCode)
	}
	switch code {
	case gcerrors.NotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}

func (b *cloudBucket) Stat(ctx context.Context, key string) (Info, error) {
	a, err := b.bucket.Attributes(ctx, key)
	if err != nil {
		return Info{}, cloudError(err)
	}
	return Info{a.Size, b.versions.of(a), a.ModTime, a.Metadata[cloudDraftKey]}, nil
}

// Read takes the end of the range on trust: not every response says it. Bytes that are missing are noticed.
func (b *cloudBucket) Read(ctx context.Context, key string, version Info, offset, length int64) (*Body, error) {
	r, err := b.bucket.NewRangeReader(ctx, key, offset, length, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return b.versions.read(as, version.ETag) },
	})
	if err != nil {
		return nil, cloudError(err)
	}
	start := b.versions.start(r)
	if length == 0 {
		start = offset
	}
	return &Body{r, b.versions.served(r, version.ETag), r.ModTime(), fmt.Sprintf("bytes %d-%d/%d", start, start+length-1, r.Size())}, nil
}

// pageSize is the number of keys in a page of a list, as in S3.
const pageSize = 1000

func (b *cloudBucket) List(ctx context.Context, prefix, token string) (page Page, err error) {
	from := blob.FirstPageToken
	if token != "" {
		from = []byte(token)
	}
	found, next, err := b.bucket.ListPage(ctx, from, pageSize, &blob.ListOptions{Prefix: prefix})
	for _, o := range found {
		page.Keys = append(page.Keys, o.Key)
	}
	page.Next = string(next)
	return page, cloudError(err)
}

func (b *cloudBucket) Remove(ctx context.Context, key string) error {
	return cloudError(b.bucket.Delete(ctx, key))
}

// Abort does nothing: both clouds forget an unfinished upload after a week.
func (b *cloudBucket) Abort(context.Context, string, string) error { return nil }

// cloudDraftKey is the metadata with the token of a Target. Azure allows no hyphen in a name.
const cloudDraftKey = "bulkcatdraft"

func (b *cloudBucket) options(t Target) *blob.WriterOptions {
	o := &blob.WriterOptions{
		ContentType: "application/octet-stream", Metadata: map[string]string{cloudDraftKey: t.Token}, IfNotExist: t.Old == Info{},
	}
	if !o.IfNotExist {
		o.BeforeWrite = func(as func(any) bool) error { return b.versions.write(as, t.Old.ETag) }
	}
	return o
}

func (b *cloudBucket) Write(t Target) Upload { return &cloudUpload{bucket: b, target: t} }

// cloudUpload is an object that is being written. The end of the data publishes the object, unless the context was
// canceled before. No call for a part can be repeated.
type cloudUpload struct {
	bucket *cloudBucket
	target Target
	data   *io.PipeWriter // nil before the first part
	done   chan error     // of the upload
	cancel context.CancelFunc
	ended  bool
}

func (u *cloudUpload) Put(ctx context.Context, data []byte) (string, error) {
	return "", cloudError(u.bucket.bucket.Upload(ctx, u.target.Key, bytes.NewReader(data), u.bucket.options(u.target)))
}

// begin starts an upload that outlives ctx.
func (u *cloudUpload) begin(ctx context.Context) {
	ctx, u.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r, w := io.Pipe()
	u.data, u.done = w, make(chan error, 1)
	go func() {
		err := cloudText(u.bucket.bucket.Upload(ctx, u.target.Key, r, u.bucket.options(u.target)))
		r.CloseWithError(err) // ends a Part that waits
		u.done <- err
	}()
}

func (u *cloudUpload) Part(ctx context.Context, data []byte) error {
	if u.data == nil {
		u.begin(ctx)
	}
	defer context.AfterFunc(ctx, u.cancel)()
	_, err := u.data.Write(data)
	return err
}

func (u *cloudUpload) Complete(ctx context.Context) (string, error) {
	defer context.AfterFunc(ctx, u.cancel)()
	return "", u.end(nil)
}

func (u *cloudUpload) Abort(context.Context) error {
	if u.data != nil && !u.ended {
		u.cancel()
		_ = u.end(errDiscarded) // the upload fails
	}
	return nil
}

// end ends the upload; without an error the object is published.
func (u *cloudUpload) end(err error) error {
	u.ended = true
	defer u.cancel()
	_ = u.data.CloseWithError(err) // always nil
	return <-u.done
}

var errDiscarded = errors.New("the draft is discarded")
