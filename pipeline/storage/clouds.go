//go:build clouds

package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	Register("gs", openCloud("gs", cloudBucket{version: generationOf, only: ifGeneration, served: servedByGoogle}))
	Register("azblob", openCloud("azblob", cloudBucket{version: func(a *blob.Attributes) string { return a.ETag }, only: ifETag, served: servedByAzure}))
}

// openCloud returns the Opener of a cloud. Credentials and addresses come from the environment, as in the programs of the cloud.
func openCloud(scheme string, cloud cloudBucket) Opener {
	return func(ctx context.Context, name string, parameters url.Values) (Bucket, error) {
		if len(parameters) > 0 {
			return nil, fmt.Errorf("URLs of %s have no parameters: set them in the environment", scheme)
		}
		b, err := blob.OpenBucket(ctx, scheme+"://"+name)
		cloud := cloud
		cloud.bucket = b
		return &cloud, err
	}
}

var errNoAccess = errors.New("the bucket has no conditional requests")

// generationOf returns the version of an object of Google Cloud Storage.
func generationOf(a *blob.Attributes) string {
	var attrs gcs.ObjectAttrs
	a.As(&attrs)
	return strconv.FormatInt(attrs.Generation, 10)
}

// servedByGoogle returns the generation of the object in a response, and the beginning of its range.
func servedByGoogle(r *blob.Reader, _ string) (version string, start int64) {
	var response *gcs.Reader
	if !r.As(&response) {
		return "", 0
	}
	return strconv.FormatInt(response.Attrs.Generation, 10), response.Attrs.StartOffset
}

func ifGeneration(as func(any) bool, version string) error {
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

// servedByAzure returns the version that was asked for, and the beginning of the range of a response. A response without
// Content-Range has the whole blob.
func servedByAzure(r *blob.Reader, asked string) (version string, start int64) {
	var response azblob.DownloadStreamResponse
	if r.As(&response) && response.ContentRange != nil {
		_, _ = fmt.Sscanf(*response.ContentRange, "bytes %d-", &start)
	}
	return asked, start
}

// ifETag makes a request to Azure Blob Storage conditional.
func ifETag(as func(any) bool, version string) error {
	conditions := &azure.AccessConditions{ModifiedAccessConditions: &azure.ModifiedAccessConditions{IfMatch: (*azcore.ETag)(&version)}}
	var download *azblob.DownloadStreamOptions
	var upload *azblob.UploadStreamOptions
	switch {
	case as(&download):
		download.AccessConditions = conditions
	case as(&upload):
		upload.AccessConditions = conditions
	default:
		return errNoAccess
	}
	return nil
}

// cloudBucket is a bucket of Google Cloud Storage or a container of Azure Blob Storage. The libraries of the clouds repeat
// requests, compare what they send and receive, and send large objects in parts, which the clouds forget after a week if an
// upload has no end.
type cloudBucket struct {
	bucket  *blob.Bucket
	version func(*blob.Attributes) string
	only    func(as func(any) bool, version string) error                    // makes a request conditional: it fails for other versions
	served  func(r *blob.Reader, asked string) (version string, start int64) // returns the version and the beginning of the range of a response
}

// cloudError wraps fs.ErrNotExist or ErrChanged, and shortens an error of Azure, whose text has the response and the URL with
// its tokens.
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
	return Info{a.Size, b.version(a), a.ModTime, a.Metadata[tokenKey]}, nil
}

func (b *cloudBucket) Read(ctx context.Context, key string, version Info, offset, length int64) (io.ReadCloser, error) {
	r, err := b.bucket.NewRangeReader(ctx, key, offset, length, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return b.only(as, version.ETag) },
	})
	if err != nil {
		return nil, cloudError(err)
	}
	served, start := b.served(r, version.ETag)
	switch {
	case served != version.ETag:
		err = ErrChanged
	case r.Size() != version.Size, length > 0 && start != offset:
		err = fmt.Errorf("%w: asked for bytes from %d of %d, but the response has those from %d of %d", errWrong, offset, version.Size, start, r.Size())
	default:
		return r, nil
	}
	return nil, errors.Join(err, r.Close())
}

// pageSize is the number of keys in a page of a list, as in S3.
const pageSize = 1000

func (b *cloudBucket) List(ctx context.Context, prefix, token string) (keys []string, next string, err error) {
	from := blob.FirstPageToken
	if token != "" {
		from = []byte(token)
	}
	found, after, err := b.bucket.ListPage(ctx, from, pageSize, &blob.ListOptions{Prefix: prefix})
	for _, o := range found {
		keys = append(keys, o.Key)
	}
	return keys, string(after), cloudError(err)
}

func (b *cloudBucket) Put(ctx context.Context, key string, data io.Reader, old Info, token string) error {
	o := &blob.WriterOptions{
		ContentType: "application/octet-stream", Metadata: map[string]string{tokenKey: token}, IfNotExist: old == Info{},
	}
	if !o.IfNotExist {
		o.BeforeWrite = func(as func(any) bool) error { return b.only(as, old.ETag) }
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return cloudError(b.bucket.Upload(ctx, key, canceling{data, cancel}, o))
}

// canceling cancels an upload when its data ends with an error: else the library would publish the data before the error.
type canceling struct {
	io.Reader
	cancel func()
}

func (c canceling) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && err != io.EOF {
		c.cancel()
	}
	return n, err
}

func (b *cloudBucket) Remove(ctx context.Context, key string) error {
	return cloudError(b.bucket.Delete(ctx, key))
}
