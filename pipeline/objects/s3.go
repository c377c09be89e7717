package objects

import (
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
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/bulkcat/bulkcat/writer"
)

const (
	// attempts of a request to S3: with the pauses in between, a minute and a half of 503 SlowDown.
	attempts = 10
	// maxPause between two attempts.
	maxPause = 20 * time.Second
	// headerTimeout bounds the wait for the beginning of a response. To complete a large upload takes minutes.
	headerTimeout = 3 * time.Minute
	// emptyPages of a list may follow each other. Servers that skip removed objects send some.
	emptyPages = 100
)

// s3Bucket is a bucket of Amazon S3, or of a server with the interface of S3. It uses the client of S3 itself, and not
// the bucket of gocloud.dev, with which the program is 3 MB larger.
type s3Bucket struct {
	name   string
	client *s3.Client
}

func openS3(ctx context.Context, name string, parameters url.Values) (Bucket, error) {
	options := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}), // errors say what went wrong
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				// All requests are retried alike: the default stops when a fifth of the requests fail.
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
		c.Region = "us-east-1" // other servers do not care, and S3 names the right region in the error
	}
	if endpoint := parameters.Get("endpoint"); endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.DisableLogOutputChecksumValidationSkipped = true
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
	info := Info{aws.ToInt64(out.ContentLength), aws.ToString(out.ETag), aws.ToTime(out.LastModified)}
	if out.ContentLength == nil || info.ETag == "" && info.Modified.IsZero() {
		return Info{}, errNoVersion
	}
	return info, nil
}

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
	// Servers over a folder, such as versitygw, have no ETag of files that others have put there. If-Unmodified-Since would
	// not help: versitygw compares fractions of a second, which the header does not have.
	other := version.ETag == "" && !aws.ToTime(out.LastModified).Equal(version.Modified)
	if aws.ToString(out.ETag) != version.ETag || other { // a server without If-Match
		return nil, errors.Join(ErrChanged, out.Body.Close())
	}
	asked, got := fmt.Sprintf("bytes %d-%d/%d", offset, offset+length-1, version.Size), aws.ToString(out.ContentRange)
	if got == "" && out.ContentLength != nil { // the response has the whole object
		got = fmt.Sprintf("bytes 0-%d/%[2]d", *out.ContentLength-1, *out.ContentLength)
	}
	if got != asked {
		return nil, errors.Join(&RangeError{asked, got}, out.Body.Close())
	}
	return out.Body, nil
}

func (b *s3Bucket) List(ctx context.Context, prefix string, add func(key string) bool) error {
	in, tokens, empty := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix}, make(map[string]bool), 0
	for {
		page, err := b.client.ListObjectsV2(ctx, in)
		if err != nil {
			return s3Error(err)
		}
		for _, object := range page.Contents {
			if !add(aws.ToString(object.Key)) {
				return nil
			}
		}
		if empty++; len(page.Contents) > 0 {
			empty = 0
		}
		next := aws.ToString(page.NextContinuationToken)
		switch {
		case page.IsTruncated == nil:
			return &ListError{"a page that does not say whether it is the last"}
		case *page.IsTruncated != (next != ""):
			return &ListError{"a page whose IsTruncated and NextContinuationToken contradict each other"}
		case tokens[next] || empty > emptyPages:
			return &ListError{"pages without an end"}
		case next == "":
			return nil
		}
		tokens[next], in.ContinuationToken = true, &next
	}
}

func (b *s3Bucket) Create(ctx context.Context, key string, old Info) (writer.Draft, error) {
	return newS3Draft(ctx, b, key, old), nil
}

func (b *s3Bucket) Remove(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return s3Error(err)
}

func (b *s3Bucket) AbortDraft(ctx context.Context, key, id string) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: &key, UploadId: &id})
	return s3Error(err)
}

// s3Error returns the code and the message of an error of S3, without the names of the SDK.
func s3Error(err error) error {
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
