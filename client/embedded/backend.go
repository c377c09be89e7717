package embedded

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/client"
)

// Backend answers the categorizations of a [Service] instead of its taxonomies. The Service checks the keys and the form of the
// requests, and writes the responses. The methods must be safe for concurrent use.
type Backend interface {
	// Answer returns the body of the answer to a request. The Service calls release when the body has been sent; release may be
	// nil if there is an error. Answer applies the limits of the key, and charges it with [Service.Charge]. It may set headers
	// of the response, also with an error. It reads only the header and the context of r. The input is not normalized, and the
	// classification may be unknown. The error is a *client.Error with the status, the message (Detail) and the Retry-After of
	// the response, or the cause of the context.
	Answer(h http.Header, r *http.Request, key *Key, request client.Request) (body []byte, release func(), err error)

	// Condition returns the state of the backend, for HealthPath, ReadyPath and the usage operation.
	Condition() Condition

	// Waiting is the number of a key's requests that wait for the backend.
	Waiting(key *Key) int

	// Collector collects the metrics of the backend.
	prometheus.Collector
}

// Condition is the state of a [Backend].
type Condition struct {
	State string        // one word, such as "up"
	Left  Quota         // answers left for all keys together: if a key has more left, the usage operation shows Left
	Err   *client.Error // why no key can get an answer that is charged; nil if keys can
}

// forward returns the backend's answer to a categorization.
func (s *Service) forward(b []byte, w http.ResponseWriter, r *http.Request, op *operation, p params, o *access) ([]byte, error) {
	request := client.Request{Kind: client.Kind(op.name), Input: p.input, Classification: p.classification}
	body, release, err := s.opts.Backend.Answer(w.Header(), r, o.key, request)
	if err != nil {
		return b, err
	}
	o.release = release
	return body, nil
}
