package embedded

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bulkcat/bulkcat/client"
)

// Backend answers the categorizations of a [Service] in place of its taxonomies. The Service checks the
// keys and the form of the requests, and writes the responses. The methods are safe for concurrent use.
type Backend interface {
	// Answer returns the body of the answer to a request of a key, and a function that is called once the
	// body is not used any more; the function may be nil if there is an error. Answer may set headers of the response,
	// also with an error. It reads nothing but the header and the context of r. It applies the limits of
	// the key and charges the key, with [Service.Charge]. The input is not normalized, and the classification may be unknown. The
	// error is a *client.Error, which has the status, the message and the Retry-After of the response, or
	// the cause of the context.
	Answer(h http.Header, r *http.Request, key *Key, request client.Request) (body []byte, release func(), err error)

	// Condition returns the condition of the backend, which HealthPath and the usage operation show.
	Condition() Condition

	// Waiting is how many requests of a key wait for the backend.
	Waiting(key *Key) int

	// Collector has the metrics of the backend.
	prometheus.Collector
}

// Condition is the condition of a [Backend].
type Condition struct {
	State string        // a word
	Left  Quota         // the answers that all keys together can get: the usage operation shows it if a key has more
	Err   *client.Error // why no key can get an answer that costs something, whatever its quota; nil if keys can
}

// forward has the backend answer a categorization. A problem is appended to b.
func (s *Service) forward(b []byte, w http.ResponseWriter, r *http.Request, op *operation, o *access) ([]byte, *apiError) {
	params, problem := readParams(w, r, op.input)
	if problem != nil {
		return b, problem
	}
	request := client.Request{Kind: client.Kind(op.name), Input: params.input, Classification: cmp.Or(params.classification, op.standard)}
	if request.Classification == "" {
		return b, missing("classification")
	}
	body, release, err := s.opts.Backend.Answer(w.Header(), r, o.key, request)
	if err != nil {
		return b, problemOf(err)
	}
	o.release = release
	return body, nil
}

// problemOf returns the response for an error of a backend.
func problemOf(err error) *apiError {
	var e *client.Error
	if !errors.As(err, &e) {
		return canceled()
	}
	problem := &apiError{Status: e.Status, Message: e.Detail, Wait: e.RetryAfter}
	if e.Class == client.Quota {
		problem.Remaining = "0"
	}
	return problem
}
