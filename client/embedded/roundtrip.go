package embedded

import (
	"net/http"
	"net/http/httptest"

	"github.com/bulkcat/bulkcat/client"
)

// RoundTripper returns a transport that answers requests to any host in process. It is safe for concurrent use.
func (s *Service) RoundTripper() http.RoundTripper { return inProcess{s} }

// inProcessURL is the base URL of a client of a Service. No connection is made.
const inProcessURL = "http://embedded.invalid"

// Client returns a client of the Service, in process. It ignores BaseURL and Transport of the options. The error comes from
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
	answer := httptest.NewRecorder()
	p.service.ServeHTTP(answer, asReceived(req))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	response := answer.Result()
	response.Request = req
	return response, nil
}

// asReceived sets the fields of a request that clients may leave out and servers always have. A RoundTripper must not modify
// its request.
func asReceived(req *http.Request) *http.Request {
	received := *req
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
