package embedded

import (
	"context"
	"errors"

	"github.com/bulkcat/bulkcat/client/embedded/classify"
)

// Explanation is an answer and the words that led to it.
type Explanation struct {
	Body          []byte         // the answer, byte for byte as it is served
	Contributions []Contribution // by entry in the order of the answer, the weightiest first
	Cost          string         // CostPage or CostNone
}

// Contribution is what some words of an input add to the score of an entry of its
// answer.
type Contribution struct {
	Value   string   `json:"value"`   // of the entry
	Speaker string   `json:"speaker"` // the value of the category whose words they are: the entry's, an ancestor's or, where the entry stands for equal children, a child's
	Words   string   `json:"words"`   // as they first stand in the input, in lower case and without accents
	Fields  []string `json:"fields"`  // where they were read: title, host, description, ...
	Weight  float64  `json:"weight"`  // what they add to the entry's score
	Share   float64  `json:"share"`   // of that score, 0 to 1
}

// websiteFieldNames are those of the fields of a page, in the order of websiteFields.
var websiteFieldNames = []string{
	"title", "og:title", "description", "og:description", "keywords", "type", "section", "site name", "breadcrumb", "headings", "text",
}

// Explain answers one input as the operation of that path does, and tells why. It
// uses up nothing of any quota. The error says what is wrong with the request.
func (s *Service) Explain(ctx context.Context, path, classification, input string) (Explanation, error) {
	op, ok := s.operations[path]
	if !ok || op.judge == nil {
		return Explanation{}, errors.New(noOperation().Message)
	}
	c, problem := op.classification(classification)
	if problem != nil {
		return Explanation{}, errors.New(problem.Message)
	}
	j, problem := op.judge(ctx, c, input)
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

// explain judges once more what was judged.
func (c *classification) explain(j judgement, input string) ([]classify.Match, []classify.Contribution) {
	switch {
	case j.host != "":
		return c.engine().ExplainWebsite(j.host, j.path, j.fields, websiteFieldNames, c.most)
	case j.titles != nil:
		return c.engine().ExplainTitle(j.titles)
	}
	return c.engine().ExplainTitle([]classify.Part{{Name: "title", Text: input}})
}

// contributions names the categories of those found.
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
