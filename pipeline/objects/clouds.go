//go:build clouds

package objects

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strconv"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcerrors"

	"github.com/bulkcat/bulkcat/writer"
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
	served(r *blob.Reader, version string) bool    // as far as the response tells
	start(r *blob.Reader) int64                    // of the range in the response
}

var errNoAccess = errors.New("the bucket has no conditional requests")

// google uses the generation of an object.
type google struct{}

func (google) of(a *blob.Attributes) string {
	var attrs storage.ObjectAttrs
	a.As(&attrs)
	return strconv.FormatInt(attrs.Generation, 10)
}

func (google) read(as func(any) bool, version string) error {
	generation, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return err
	}
	var object **storage.ObjectHandle
	if !as(&object) {
		return errNoAccess
	}
	*object = (*object).If(storage.Conditions{GenerationMatch: generation})
	return nil
}

func (google) served(r *blob.Reader, version string) bool {
	var response *storage.Reader
	return !r.As(&response) || strconv.FormatInt(response.Attrs.Generation, 10) == version
}

func (google) start(r *blob.Reader) int64 {
	var response *storage.Reader
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

func (microsoft) served(*blob.Reader, string) bool { return true }

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

// cloudBucket is a bucket of Google Cloud Storage or a container of Azure Blob Storage. Both clouds retry requests.
type cloudBucket struct {
	bucket   *blob.Bucket
	versions versions
}

// cloudError types an error, and shortens those of Azure, whose text has the response and the URL with its tokens.
func cloudError(err error) error {
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
	return Info{a.Size, b.versions.of(a), a.ModTime}, nil
}

func (b *cloudBucket) Read(ctx context.Context, key string, version Info, offset, length int64) (io.ReadCloser, error) {
	r, err := b.bucket.NewRangeReader(ctx, key, offset, length, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return b.versions.read(as, version.ETag) },
	})
	if err != nil {
		return nil, cloudError(err)
	}
	if !b.versions.served(r, version.ETag) { // a server without conditional reads
		return nil, errors.Join(ErrChanged, r.Close())
	}
	asked, got := fmt.Sprintf("bytes %d-/%d", offset, version.Size), fmt.Sprintf("bytes %d-/%d", b.versions.start(r), r.Size())
	if length > 0 && asked != got {
		return nil, errors.Join(&RangeError{asked, got}, r.Close())
	}
	return r, nil
}

func (b *cloudBucket) List(ctx context.Context, prefix string, add func(key string) bool) error {
	objects := b.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := objects.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return cloudError(err)
		}
		if !add(o.Key) {
			return nil
		}
	}
}

// Remove of an object that is not there succeeds, as in S3.
func (b *cloudBucket) Remove(ctx context.Context, key string) error {
	if err := cloudError(b.bucket.Delete(ctx, key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// AbortDraft does nothing: both clouds forget an unfinished upload after a week.
func (b *cloudBucket) AbortDraft(context.Context, string, string) error { return nil }

func (b *cloudBucket) Create(parent context.Context, key string, old Info) (writer.Draft, error) {
	d := &cloudDraft{ctx: parent, bucket: b, key: key, token: rand.Text(), done: make(chan error, 1)}
	o := &blob.WriterOptions{
		ContentType: "application/octet-stream", Metadata: map[string]string{cloudDraftKey: d.token}, IfNotExist: old == Info{},
	}
	if old != (Info{}) {
		o.BeforeWrite = func(as func(any) bool) error { return b.versions.write(as, old.ETag) }
	}
	ctx, cancel := context.WithCancel(parent)
	r, w := io.Pipe()
	d.data, d.cancel = w, cancel
	go func() {
		err := cloudError(b.bucket.Upload(ctx, key, r, o))
		r.CloseWithError(err) // ends a Write that waits
		d.done <- err
	}()
	return d, nil
}

// cloudDraftKey is the metadata by which a draft recognizes its object. Azure allows no hyphen in a name.
const cloudDraftKey = "bulkcatdraft"

// cloudDraft is an object that is being uploaded. The end of the data publishes the object, unless the context was
// canceled before.
type cloudDraft struct {
	ctx    context.Context // of Create
	bucket *cloudBucket
	key    string
	token  string
	data   *io.PipeWriter
	done   chan error // of the upload
	cancel context.CancelFunc
	size   int64
	ended  bool
}

func (d *cloudDraft) Write(p []byte) (int, error) {
	n, err := d.data.Write(p)
	d.size += int64(n)
	return n, err
}

func (d *cloudDraft) Publish(size int64) error {
	if d.size != size {
		return errShort(size, d.size)
	}
	err := d.end(nil)
	if err != nil && !errors.Is(err, ErrChanged) {
		return err
	}
	if !d.isPublished() { // else the response to an earlier attempt was lost
		return cmp.Or(err, errNotStored)
	}
	return nil
}

// end ends the upload; without an error the object is published.
func (d *cloudDraft) end(err error) error {
	d.ended = true
	defer d.cancel()
	_ = d.data.CloseWithError(err) // always nil
	return <-d.done
}

// isPublished reports whether the object is that of this draft.
func (d *cloudDraft) isPublished() (published bool) {
	_ = call(d.ctx, func(ctx context.Context) error {
		a, err := d.bucket.bucket.Attributes(ctx, d.key)
		published = err == nil && a.Metadata[cloudDraftKey] == d.token && a.Size == d.size
		return err
	})
	return published
}

func (d *cloudDraft) Discard() error {
	if !d.ended {
		d.cancel()
		_ = d.end(errDiscarded) // the upload fails
	}
	return nil
}

var errDiscarded = errors.New("the draft is discarded")
