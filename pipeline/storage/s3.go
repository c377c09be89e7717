package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	// headerTimeout bounds the wait for the beginning of a response. Completing a large upload takes minutes.
	headerTimeout = 3 * time.Minute
	// draftKey is the metadata with the token of a Target.
	draftKey = "bulkcat-draft"
)

// s3Bucket is a bucket of Amazon S3, or of a server with the interface of S3. It uses the client of S3 itself, and not
// the bucket of gocloud.dev, which does not tell the names of its uploads, so that those of killed processes could not be
// removed, and with which the program is 3 MB larger.
type s3Bucket struct {
	name   string
	client *s3.Client
}

func openS3(ctx context.Context, name string, parameters url.Values) (Bucket, error) {
	options := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}), // errors say what went wrong
		// The services of credentials are asked as often as S3 is. S3 itself is asked again by repeat, for all requests alike.
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
	if c.Region == "" {
		c.Region = "us-east-1" // other servers ignore it, and S3 names the right region in the error
	}
	if endpoint := parameters.Get("endpoint"); endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.DisableLogOutputChecksumValidationSkipped = true
		o.Retryer = aws.NopRetryer{}
		// Other servers seldom have a name for each bucket.
		o.UsePathStyle = o.BaseEndpoint != nil && parameters.Get("use_path_style") != "false"
	})
	return &s3Bucket{name, client}, nil
}

func (b *s3Bucket) Stat(ctx context.Context, key string) (Info, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return Info{}, s3Error(err)
	}
	info := Info{-1, aws.ToString(out.ETag), aws.ToTime(out.LastModified), out.Metadata[draftKey]}
	if out.ContentLength != nil {
		info.Size = *out.ContentLength
	}
	return info, nil
}

// Read does not use If-Unmodified-Since if there is no ETag. Servers over a folder, such as versitygw, have no ETag of
// files that others have put there, but versitygw compares fractions of a second, which the header does not have.
func (b *s3Bucket) Read(ctx context.Context, key string, version Info, offset, length int64) (*Body, error) {
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
	body := &Body{out.Body, aws.ToString(out.ETag), aws.ToTime(out.LastModified), aws.ToString(out.ContentRange)}
	if body.Range == "" && out.ContentLength != nil {
		body.Range = wholeRange(*out.ContentLength)
	}
	return body, nil
}

func (b *s3Bucket) List(ctx context.Context, prefix, token string) (page Page, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix}
	if token != "" {
		in.ContinuationToken = &token
	}
	out, err := b.client.ListObjectsV2(ctx, in)
	if err != nil {
		return page, s3Error(err)
	}
	for _, object := range out.Contents {
		page.Keys = append(page.Keys, aws.ToString(object.Key))
	}
	page.Next = aws.ToString(out.NextContinuationToken)
	switch {
	case out.IsTruncated == nil:
		return page, &ListError{"a page that does not say whether it is the last"}
	case *out.IsTruncated != (page.Next != ""):
		return page, &ListError{"a page whose IsTruncated and NextContinuationToken contradict each other"}
	}
	return page, nil
}

// s3Condition returns the headers by which an object is replaced only if it is what it was.
func s3Condition(old Info) (ifMatch, ifNoneMatch *string) {
	if old.ETag == "" {
		return nil, aws.String("*")
	}
	return &old.ETag, nil
}

func (b *s3Bucket) Write(t Target) Upload { return &s3Upload{bucket: b, target: t} }

func (b *s3Bucket) Remove(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return s3Error(err)
}

func (b *s3Bucket) Abort(ctx context.Context, key, id string) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: &key, UploadId: &id})
	return s3Error(err)
}

// s3Upload is an object that is being written.
type s3Upload struct {
	bucket *s3Bucket
	target Target
	id     string // of the multipart upload; "" before the first part
	parts  []types.CompletedPart
}

func (u *s3Upload) Put(ctx context.Context, data []byte) (string, error) {
	in := &s3.PutObjectInput{Bucket: &u.bucket.name, Key: &u.target.Key, Body: bytes.NewReader(data), Metadata: map[string]string{draftKey: u.target.Token}}
	in.IfMatch, in.IfNoneMatch = s3Condition(u.target.Old)
	out, err := u.bucket.client.PutObject(ctx, in)
	if err != nil {
		return "", s3Error(err)
	}
	return aws.ToString(out.ETag), nil
}

func (u *s3Upload) begin(ctx context.Context) error {
	out, err := u.bucket.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &u.bucket.name, Key: &u.target.Key, Metadata: map[string]string{draftKey: u.target.Token}, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return s3Error(err)
	}
	u.id = aws.ToString(out.UploadId)
	return u.target.Begun(u.id)
}

func (u *s3Upload) Part(ctx context.Context, data []byte) error {
	if u.id == "" {
		if err := u.begin(ctx); err != nil {
			return err
		}
	}
	number := aws.Int32(int32(len(u.parts) + 1))
	out, err := u.bucket.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &u.bucket.name, Key: &u.target.Key, UploadId: &u.id, PartNumber: number,
		Body: bytes.NewReader(data), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return s3Error(err)
	}
	u.parts = append(u.parts, types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
	return nil
}

func (u *s3Upload) Complete(ctx context.Context) (string, error) {
	in := &s3.CompleteMultipartUploadInput{
		Bucket: &u.bucket.name, Key: &u.target.Key, UploadId: &u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
	}
	in.IfMatch, in.IfNoneMatch = s3Condition(u.target.Old)
	out, err := u.bucket.client.CompleteMultipartUpload(ctx, in)
	if err = s3Error(err); errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("the upload was aborted by another program")
	}
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

func (u *s3Upload) Abort(ctx context.Context) error {
	if u.id == "" {
		return nil
	}
	return u.bucket.Abort(ctx, u.target.Key, u.id)
}

// passes reports whether the same request may succeed later.
var passes = retry.IsErrorRetryables(retry.DefaultRetryables)

// s3Error returns the error of a request, as Bucket describes it.
func s3Error(err error) error {
	text := s3Text(err)
	if passes.IsErrorRetryable(err) == aws.TrueTernary {
		return &TransientError{text}
	}
	return text
}

// s3Text returns the code and the message of an error of S3, without the names of the SDK.
func s3Text(err error) error {
	if err == nil {
		return nil
	}
	var response *smithyhttp.ResponseError
	status := 0
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	api, named := errors.AsType[smithy.APIError](err)
	switch {
	case status == http.StatusNotFound && named && api.ErrorCode() == "NoSuchBucket":
		return errors.New("the bucket does not exist")
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
