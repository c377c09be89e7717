package embedded

import (
	"context"
	"errors"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
)

// Explanation is an answer and the words that led to it.
type Explanation struct {
	Body          []byte         // the answer, byte for byte as it is served
	Contributions []Contribution // in the order of the entries; the largest weight of an entry first
	Cost          string         // CostPage or CostNone
}

// Contribution is the weight that some words of an input add to the score of an entry.
type Contribution struct {
	Value   string `json:"value"`   // the entry's value
	Speaker string `json:"speaker"` // the value of the category that has these words: the entry's, an ancestor's, or a child's if the
	// entry stands for equal children
	Words  string   `json:"words"`  // as in their first place in the input, in lower case and without accents
	Fields []string `json:"fields"` // the parts of the input that have the words: title, host, description, ...
	Weight float64  `json:"weight"` // the part of the entry's score
	Share  float64  `json:"share"`  // the same as a share of the score, 0 to 1
}

// websiteFieldNames are the names of a page's fields, in the order of websiteFields.
var websiteFieldNames = []string{
	"title", "og:title", "description", "og:description", "keywords", "type", "section", "site name", "breadcrumb", "headings", "text",
}

// Explain answers one input as the operation of the path does, and explains the answer. It uses
// no quota. The error says what is wrong with the request.
func (s *Service) Explain(ctx context.Context, path, classification, input string) (Explanation, error) {
	op, ok := s.operations[path]
	if !ok || op.predict == nil {
		return Explanation{}, errors.New(noOperation().Message)
	}
	c, problem := op.classification(classification)
	if problem != nil {
		return Explanation{}, errors.New(problem.Message)
	}
	j, problem := op.predict(ctx, c, input)
	if problem != nil {
		return Explanation{}, errors.New(problem.Message)
	}
	if err := ctx.Err(); err != nil {
		return Explanation{}, err
	}
	matches, contributions := c.explain(j, input)
	j.matches = matches
	return Explanation{Body: c.append(nil, j), Contributions: c.contributions(contributions), Cost: j.cost}, nil
}

// explain classifies the input of a prediction again, and returns the contributions.
func (c *classification) explain(j prediction, input string) ([]classify.Match, []classify.Contribution) {
	switch {
	case j.host != "":
		return c.engine().ExplainWebsite(j.host, j.path, j.fields, websiteFieldNames, c.most)
	case j.titles != nil:
		return c.engine().ExplainTitle(j.titles)
	}
	return c.engine().ExplainTitle([]classify.Part{{Name: "title", Text: input}})
}

// contributions replaces category indexes by values.
func (c *classification) contributions(found []classify.Contribution) []Contribution {
	categories := c.engine().Taxonomy().Categories
	list := make([]Contribution, len(found))
	for i, f := range found {
		list[i] = Contribution{
			Value: categories[f.Category].Path, Speaker: categories[f.Speaker].Path,
			Words: f.Words, Fields: f.Fields, Weight: f.Weight, Share: f.Share,
		}
	}
	return list
}
