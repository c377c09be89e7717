package embedded

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/bulkcat/bulkcat/client"
)

// RoundTripper returns a transport that answers requests to any host in process. It is safe for concurrent use.
func (s *Service) RoundTripper() http.RoundTripper { return inProcess{s} }

// inProcessURL is the base URL of a client of a Service. No connection is made.
const inProcessURL = "http://embedded.invalid"

// Client returns a client of the Service, in process. It ignores BaseURL and Transport of the options. The error is that of
// client.New.
func (s *Service) Client(o client.Options) (*client.HTTP, error) {
	o.BaseURL, o.Transport = inProcessURL, s.RoundTripper()
	return client.New(o)
}

type inProcess struct{ service *Service }

// RoundTrip answers req with the status, header and body that a server would send. Its only error
// is the error of the request's context.
func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var rec recorder
	p.service.ServeHTTP(&rec, asReceived(req))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	length, err := strconv.ParseInt(rec.header.Get("Content-Length"), 10, 64) // also for HEAD, which has no body
	if err != nil {
		length = int64(len(rec.body))
	}
	return &http.Response{
		Status:        strconv.Itoa(rec.status) + " " + http.StatusText(rec.status),
		StatusCode:    rec.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        rec.header,
		Body:          io.NopCloser(bytes.NewReader(rec.body)),
		ContentLength: length,
		Request:       req,
	}, nil
}

// asReceived sets the fields of a request that clients may leave out and servers always have.
func asReceived(req *http.Request) *http.Request {
	if req.Method != "" && req.Body != nil && req.Header != nil {
		return req
	}
	received := *req // a RoundTripper must not modify its request
	if received.Method == "" {
		received.Method = http.MethodGet
	}
	if received.Body == nil {
		received.Body = http.NoBody
	}
	if received.Header == nil {
		received.Header = http.Header{}
	}
	return &received
}

// recorder is an http.ResponseWriter that keeps one answer in memory.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = make(http.Header, 4) // cost, type, length, and a header that the client may add
	}
	return r.header
}

func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}
