package embedded

import (
	"context"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Attempt returns the answer that the service would give over HTTP. It does not build the headers and the JSON, which take as
// long as the answer itself. It returns the errors that a client returns for the service's response.
//
// An answer that did not need a page is Free and has no Body.
func (s *Service) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	if len(r.Input) > maxInput {
		return client.Answer{}, tooLong(http.StatusRequestURITooLong)
	}
	c, j, err := s.read(ctx, r)
	if err != nil {
		return client.Answer{}, err
	}
	j.matches = c.matches(j.Input)
	answer := client.Answer{
		Entries:    c.entries(j),
		Free:       j.cost == CostNone,
		Basis:      j.basis,
		Unread:     j.unread,
		AnsweredAt: time.Now().UTC().Truncate(time.Microsecond),
	}
	if !answer.Free {
		answer.Body = c.append(nil, j)
	}
	return answer, nil
}

// read reads the input of a request, and returns it with the request's classification. The error is a *client.Error, which says what is
// wrong with the request, or the cause of ctx.
func (s *Service) read(ctx context.Context, r client.Request) (c *classification, j prediction, err error) {
	op := s.operation(r.Kind)
	if c, err = op.classification(r.Classification); err != nil {
		return nil, j, err
	}
	if j, err = op.read(ctx, r.Input); err != nil {
		return nil, j, err
	}
	if ctx.Err() != nil { // the fetch was canceled, and an answer without the page is worse
		return nil, j, context.Cause(ctx)
	}
	return c, j, nil
}

// operation returns the operation for inputs of a kind.
func (s *Service) operation(kind client.Kind) *operation {
	if kind == client.Product {
		return s.operations[ProductPath]
	}
	return s.operations[WebsitePath]
}

// entries returns the entries of the answer, the best first.
func (c *classification) entries(j prediction) []client.Entry {
	categories := c.engine().Taxonomy().Categories
	entries := make([]client.Entry, len(j.matches))
	for i, m := range j.matches {
		category := &categories[m.Category]
		entries[i] = client.Entry{Value: category.Path, Title: category.Title, Confidence: m.Confidence}
	}
	return entries
}
