package storage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const (
	// attempts is the maximum number of attempts of a request. With their pauses they survive a minute or more of 503 SlowDown.
	attempts = 10
	// headerTimeout bounds the wait for the beginning of a response. Completing a large upload takes minutes.
	headerTimeout = 3 * time.Minute
	// partSize is the size of a part of an upload in bytes. S3 wants at least 5 MiB. A part is in memory while it is sent.
	partSize = 8 << 20
	// doubleEvery is the number of parts after which the part size doubles: an upload has at most 10,000 parts.
	doubleEvery = 1000
	// tokenKey is the metadata with the token of Put. Azure allows no hyphen in a name.
	tokenKey = "bulkcatdraft"
)

// maxPause is the longest pause between two attempts. Tests shorten it.
var maxPause = 20 * time.Second

// s3Bucket is a bucket of Amazon S3, or of a server with the interface of S3. It uses the client of the AWS SDK. With
// gocloud.dev/blob/s3blob the program would be 3 MB larger.
type s3Bucket struct {
	name   string
	client *s3.Client
}

func openS3(ctx context.Context, name string, parameters url.Values) (Bucket, error) {
	options := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}), // the errors are enough
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts, o.MaxBackoff, o.RateLimiter = attempts, maxPause, ratelimit.None
			})
		}),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.ResponseHeaderTimeout = headerTimeout
		})),
	}
	if region := parameters.Get("region"); region != "" {
		options = append(options, config.WithRegion(region))
	}
	if profile := parameters.Get("profile"); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	c.Region = cmp.Or(c.Region, "us-east-1") // other servers ignore the region, and S3 names the right region in the error
	if endpoint := parameters.Get("endpoint"); endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.DisableLogOutputChecksumValidationSkipped = true
		// Other servers seldom have a host name for each bucket.
		o.UsePathStyle = o.BaseEndpoint != nil && parameters.Get("use_path_style") != "false"
	})
	return &s3Bucket{name, client}, nil
}

func (b *s3Bucket) Stat(ctx context.Context, key string) (Info, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	switch {
	case err != nil:
		return Info{}, s3Error(err)
	case out.ContentLength == nil, out.ETag == nil && out.LastModified == nil:
		return Info{}, fmt.Errorf("%w: HEAD names no size or no version of the object (no Content-Length, or neither ETag nor Last-Modified)", errWrong)
	}
	return Info{*out.ContentLength, aws.ToString(out.ETag), aws.ToTime(out.LastModified), out.Metadata[tokenKey]}, nil
}

// Read compares the version and the range of the response with the request: some servers and proxies ignore headers. Servers over
// a folder, such as versitygw, have no ETag for files that other programs have put there. Read does not send If-Unmodified-Since
// for such files: versitygw compares fractions of a second, which the header does not have.
func (b *s3Bucket) Read(ctx context.Context, key string, version Info, offset, length int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: &key}
	if version.ETag != "" {
		in.IfMatch = &version.ETag
	}
	if length > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	}
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, s3Error(err)
	}
	asked, got := rangeOf(offset, length, version.Size), aws.ToString(out.ContentRange)
	if got == "" && out.ContentLength != nil {
		got = rangeOf(0, *out.ContentLength, *out.ContentLength)
	}
	switch {
	case aws.ToString(out.ETag) != version.ETag, version.ETag == "" && !aws.ToTime(out.LastModified).Equal(version.Modified):
		err = ErrChanged
	case got != asked:
		err = fmt.Errorf("%w: asked for %s, but the response has %q; it ignores the header Range, or names wrong sizes", errWrong, asked, got)
	default:
		return out.Body, nil
	}
	return nil, errors.Join(err, out.Body.Close())
}

func (b *s3Bucket) List(ctx context.Context, prefix, token string) (keys []string, next string, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix}
	if token != "" {
		in.ContinuationToken = &token
	}
	out, err := b.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, "", s3Error(err)
	}
	for _, object := range out.Contents {
		keys = append(keys, aws.ToString(object.Key))
	}
	next = aws.ToString(out.NextContinuationToken)
	if out.IsTruncated == nil || *out.IsTruncated != (next != "") {
		err = fmt.Errorf("%w: the list does not say whether it continues, or contradicts itself (IsTruncated, NextContinuationToken)", errWrong)
	}
	return keys, next, err
}

// Put writes an object of less than a part with one request, and others with an upload in parts.
func (b *s3Bucket) Put(ctx context.Context, key string, data io.Reader, old Info, token string) error {
	ifMatch, ifNoneMatch := &old.ETag, (*string)(nil)
	if old.ETag == "" {
		ifMatch, ifNoneMatch = nil, aws.String("*")
	}
	metadata := map[string]string{tokenKey: token}
	var part bytes.Buffer
	_, err := io.CopyN(&part, data, partSize)
	if err == io.EOF {
		_, err = b.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &b.name, Key: &key, Body: bytes.NewReader(part.Bytes()), Metadata: metadata, IfMatch: ifMatch, IfNoneMatch: ifNoneMatch,
		})
		return s3Error(err)
	}
	if err != nil {
		return err
	}
	upload, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &b.name, Key: &key, Metadata: metadata, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return s3Error(err)
	}
	parts, err := b.putParts(ctx, key, upload.UploadId, &part, data)
	if err == nil {
		_, err = b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &b.name, Key: &key, UploadId: upload.UploadId, IfMatch: ifMatch, IfNoneMatch: ifNoneMatch,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
	}
	if err == nil {
		info, err := b.Stat(ctx, key)
		if err == nil && info.Token == token {
			return nil
		}
	}
	return errors.Join(s3Error(err), b.abort(ctx, key, upload.UploadId)) // also if the storage has acknowledged the object but lacks it
}

// putParts sends part as the first part, and further parts from data.
func (b *s3Bucket) putParts(ctx context.Context, key string, upload *string, part *bytes.Buffer, data io.Reader) (parts []types.CompletedPart, err error) {
	for part.Len() > 0 {
		number := aws.Int32(int32(len(parts) + 1))
		out, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &b.name, Key: &key, UploadId: upload, PartNumber: number,
			Body: bytes.NewReader(part.Bytes()), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
		part.Reset()
		if _, err := io.CopyN(part, data, partSize<<(len(parts)/doubleEvery)); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return parts, nil
}

// abort removes the parts of an upload, even if ctx is done.
func (b *s3Bucket) abort(ctx context.Context, key string, upload *string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: &key, UploadId: upload})
	if err = s3Error(err); err == nil || err == errNoUpload {
		return nil
	}
	return fmt.Errorf("%w: %w", errLeft, err)
}

func (b *s3Bucket) Remove(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return s3Error(err)
}

// s3Error returns an error with the code and the message of S3, without the text of the SDK.
func s3Error(err error) error {
	var response *smithyhttp.ResponseError
	status := 0
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	api, named := errors.AsType[smithy.APIError](err)
	switch {
	case status == http.StatusNotFound && named && api.ErrorCode() == "NoSuchBucket":
		return errNoBucket
	case status == http.StatusNotFound && named && api.ErrorCode() == "NoSuchUpload":
		return errNoUpload
	case status == http.StatusNotFound:
		return fs.ErrNotExist
	case status == http.StatusPreconditionFailed, status == http.StatusConflict && named && api.ErrorCode() == "ConditionalRequestConflict":
		return ErrChanged
	case status == http.StatusForbidden:
		return fmt.Errorf("access is denied (403): %w", fs.ErrPermission)
	case named:
		return fmt.Errorf("%s (%d) %s", api.ErrorCode(), status, api.ErrorMessage())
	}
	return err
}
