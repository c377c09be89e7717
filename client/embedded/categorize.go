package embedded

import (
	"context"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Categorize returns in process the answer that the service gives over HTTP. It skips the headers
// and the JSON, which take as long as the answer itself. Its errors are those that a client makes
// of the service's responses.
//
// An answer that can be computed again at any time is free and has no body.
func (s *Service) Categorize(ctx context.Context, r client.Request) (client.Answer, error) {
	op := s.operation(r.Kind)
	if len(r.Input) > maxInput {
		return client.Answer{}, rejection(tooLong(http.StatusRequestURITooLong))
	}
	c, problem := op.classification(r.Classification)
	if problem != nil {
		return client.Answer{}, rejection(problem)
	}
	j, problem := op.predict(ctx, c, r.Input)
	if problem != nil {
		return client.Answer{}, rejection(problem)
	}
	if ctx.Err() != nil { // the page was not fetched, and without it the answer is worse
		return client.Answer{}, context.Cause(ctx)
	}
	answer := client.Answer{
		Entries:    c.entries(j),
		Free:       j.cost == CostNone,
		AnsweredAt: time.Now().UTC().Truncate(time.Microsecond),
	}
	if !answer.Free {
		answer.Body = c.append(nil, j)
	}
	return answer, nil
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

// rejection is the error that a client makes of the response: the input will never be answered.
func rejection(e *apiError) *client.Error {
	return &client.Error{Class: client.Rejected, Status: e.Status, Detail: e.Message}
}
