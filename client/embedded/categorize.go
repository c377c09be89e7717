package embedded

import (
	"context"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Categorize answers in process what the service would answer over HTTP, without the
// message: what is asked of it a million times on one machine need not be written as
// headers and JSON and read again, which takes as long as the answer itself. The errors
// are those that a client makes of the service's responses.
//
// An answer that can be computed again at any time is free and has no body.
func (s *Service) Categorize(ctx context.Context, r client.Request) (client.Answer, error) {
	op := s.operations[WebsitePath]
	if r.Kind == client.Product {
		op = s.operations[ProductPath]
	}
	if len(r.Input) > maxInput {
		return client.Answer{}, rejection(tooLong(http.StatusRequestURITooLong))
	}
	c, problem := op.classification(r.Classification)
	if problem != nil {
		return client.Answer{}, rejection(problem)
	}
	j, problem := op.judge(ctx, c, r.Input)
	if problem != nil {
		return client.Answer{}, rejection(problem)
	}
	if ctx.Err() != nil { // what was not fetched is worth less than it would be taken for
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

// entries are the answer's, in their order.
func (c *classification) entries(j judgement) []client.Entry {
	categories := c.engine().Taxonomy().Categories
	entries := make([]client.Entry, len(j.matches))
	for i, m := range j.matches {
		category := &categories[m.Category]
		entries[i] = client.Entry{Value: category.Path, Title: category.Title, Confidence: m.Confidence}
	}
	return entries
}

// rejection is what a client makes of a refusal: the input will never be answered.
func rejection(e *apiError) *client.Error {
	return &client.Error{Class: client.Rejected, Status: e.Status, Detail: e.Message}
}
