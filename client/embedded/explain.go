package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
)

// Explanation is an answer and the words that led to it.
type Explanation struct {
	Kind          client.Kind     `json:"kind"`
	Input         string          `json:"input"`
	PageRead      bool            `json:"page_read"`
	Answer        json.RawMessage `json:"answer"`        // the served bytes
	Contributions []Contribution  `json:"contributions"` // in the order of the entries, then by falling weight

	classification string
}

// Contribution is the weight that words of an input add to the score of an entry.
type Contribution struct {
	Value string `json:"value"` // the entry's value
	// Speaker is the value of the category that has these words: the entry's category, an ancestor, a child if the entry stands
	// for equal children, or a category of product_taxonomy to which a custom category is linked.
	Speaker string `json:"speaker"`

	Words  string   `json:"words"`          // as at their first place in the input, in lower case and without accents
	Fields []string `json:"fields"`         // the parts of the input that contain the words: title, host, description, ...
	Weight float64  `json:"weight"`         // of the entry's score
	Share  float64  `json:"share"`          // Weight as a share of the score, 0 to 1
	Seen   int      `json:"seen,omitempty"` // with a model: the number of labelled inputs with this word and this label
}

// Explain answers a request as the service does, and returns the contributions to the answer. It charges no key. The error says
// what is wrong with the request, or is the context's cause.
func (s *Service) Explain(ctx context.Context, r client.Request) (Explanation, error) {
	c, j, err := s.read(ctx, r)
	if rejected, ok := errors.AsType[*client.Error](err); ok {
		return Explanation{}, errors.New(rejected.Detail)
	}
	if err != nil {
		return Explanation{}, err
	}
	var found []classify.Contribution
	if c.model != nil {
		j.matches, found = c.model.Explain(c.sample(j.Input), c.most)
	} else {
		j.matches, found = c.engine().Explain(j.Input, c.most)
	}
	return Explanation{
		Kind: r.Kind, Input: r.Input, PageRead: j.cost == CostPage,
		Answer: c.append(nil, j), Contributions: c.contributions(found), classification: c.name,
	}, nil
}

// contributions replaces category indexes by values.
func (c *classification) contributions(found []classify.Contribution) []Contribution {
	categories := c.engine().Taxonomy().Categories
	list := make([]Contribution, len(found))
	for i, f := range found {
		list[i] = Contribution{
			Value: categories[f.Category].Path, Speaker: categories[f.Speaker].Path,
			Words: f.Words, Fields: f.Fields, Weight: f.Weight, Share: f.Share, Seen: f.Seen,
		}
		if f.Link >= 0 {
			list[i].Speaker = c.engine().Base().Categories[f.Link].Path
		}
	}
	return list
}

// mostContributions is the number of contributions to an entry that are listed. The others weigh little.
const mostContributions = 8

// WriteText writes the explanation as tables for a terminal. The error comes from writing, or from parsing the answer.
func (e Explanation) WriteText(out io.Writer) error {
	answer, err := client.ParseAnswer(e.Answer, e.classification)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s  %s\n", e.Kind, e.Input)
	if e.Kind == client.Website && !e.PageRead {
		fmt.Fprintln(out, "no page was read: only the name decides")
	}
	if len(answer.Entries) == 0 {
		_, err := fmt.Fprintf(out, "\nNothing fits: no words support a category of %s.\n", e.classification)
		return err
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WORDS\tREAD IN\tWEIGHT\tSHARE\tCATEGORY")
	for _, entry := range answer.Entries {
		e.writeContributions(w, entry.Value)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	fmt.Fprintln(w, "RANK\tCONFIDENCE\tVALUE")
	for i, entry := range answer.Entries {
		fmt.Fprintf(w, "%d\t%.4f\t%s\n", i+1, entry.Confidence, strings.TrimSpace(entry.Value+"  "+entry.Title))
	}
	return w.Flush()
}

// writeContributions writes the weightiest contributions to an entry, and one row for all others.
func (e Explanation) writeContributions(w io.Writer, value string) {
	shown, more, weight, share := 0, 0, 0.0, 0.0
	for _, c := range e.Contributions {
		if c.Value != value {
			continue
		}
		if shown == mostContributions {
			more, weight, share = more+1, weight+c.Weight, share+c.Share
			continue
		}
		shown++
		category := c.Value
		if c.Speaker != c.Value {
			category += "  (through " + c.Speaker + ")"
		}
		if c.Seen > 0 {
			category += fmt.Sprintf("  (labelled inputs with both: %d)", c.Seen)
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.0f%%\t%s\n", c.Words, strings.Join(c.Fields, ", "), c.Weight, 100*c.Share, category)
	}
	if more > 0 {
		fmt.Fprintf(w, "(%d more)\t\t%.2f\t%.0f%%\t%s\n", more, weight, 100*share, value)
	}
}
