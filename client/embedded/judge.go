package embedded

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/classify"
	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// trustInName multiplies the confidences of what is judged by its URL alone: a
// name is often a fancy. The figure is chosen, not measured; it puts a name that
// fits well below a page that fits as well.
const trustInName = 0.6

// judgeWebsite categorizes a website by its page and its name.
func (s *Service) judgeWebsite(r *http.Request, c *classification, input string) (judgement, *apiError) {
	u, problem := parseURL(input)
	if problem != nil {
		return judgement{}, problem
	}
	fields := []classify.Field{
		{Text: strings.Join(classify.SplitHost(u.Hostname()), " "), Weight: 2},
		{Text: strings.Join(pathWords(u.Path), " "), Weight: 1},
	}
	return s.judgeURL(r.Context(), c, input, fields, websiteFields), nil
}

// judgeProduct categorizes a product by its title, or by the name and the title
// of its page.
func (s *Service) judgeProduct(r *http.Request, c *classification, input string) (judgement, *apiError) {
	if !isURL(input) {
		return judgement{matches: c.engine().Title(input), trust: 1, cost: CostNone}, nil
	}
	u, problem := parseURL(input)
	if problem != nil {
		return judgement{}, problem
	}
	fields := []classify.Field{{Text: strings.Join(pathWords(u.Path), " "), Weight: 2}}
	return s.judgeURL(r.Context(), c, input, fields, productFields), nil
}

// judgeURL categorizes by the fields of a name and, where it can be had, those
// of its page.
func (s *Service) judgeURL(ctx context.Context, c *classification, input string,
	name []classify.Field, read func(page.Page) []classify.Field) judgement {
	j := judgement{trust: trustInName, cost: CostNone}
	if p, ok := s.fetch(ctx, input); ok {
		j.cost = CostPage
		fields := read(p)
		if hasText(fields) { // a page drawn by scripts has none
			j.trust = 1
		}
		name = append(name, fields...)
	}
	j.matches = c.engine().Document(name, c.most)
	return j
}

func (s *Service) fetch(ctx context.Context, input string) (page.Page, bool) {
	if s.opts.Fetch == nil {
		return page.Page{}, false
	}
	p, err := s.opts.Fetch.Fetch(ctx, input)
	if err != nil {
		s.opts.Logger.DebugContext(ctx, "judged by the name alone", "error", err)
		return page.Page{}, false
	}
	return p, true
}

// websiteFields weighs the parts of a page: what was written to say what the
// site is about counts most, word for word, and there is least of it.
func websiteFields(p page.Page) []classify.Field {
	return []classify.Field{
		{Text: p.Title, Weight: 3},
		{Text: p.OGTitle, Weight: 2},
		{Text: p.Description, Weight: 3},
		{Text: p.OGDescription, Weight: 2},
		{Text: p.Keywords, Weight: 1.5}, // written for machines, often beside the point
		{Text: strings.Join(p.Types, ". "), Weight: 2},
		{Text: p.Section, Weight: 2},
		{Text: p.SiteName, Weight: 1},
		{Text: strings.Join(p.Breadcrumb, ". "), Weight: 1},
		{Text: strings.Join(p.Headings, ". "), Weight: 1.5},
		{Text: p.Text, Weight: 1},
	}
}

// productFields leaves the text of a product's page out: most of it is about
// other products.
func productFields(p page.Page) []classify.Field {
	fields := []classify.Field{
		{Text: p.Product, Weight: 5},
		{Text: p.Category, Weight: 4},
		{Text: strings.Join(p.Breadcrumb, ". "), Weight: 4},
		{Text: p.Title, Weight: 3},
		{Text: p.OGTitle, Weight: 3},
	}
	if len(p.Headings) > 0 {
		fields = append(fields, classify.Field{Text: p.Headings[0], Weight: 2})
	}
	return fields
}

func hasText(fields []classify.Field) bool {
	for _, field := range fields {
		if field.Text != "" {
			return true
		}
	}
	return false
}

// isURL tells a URL from a product title.
func isURL(input string) bool {
	scheme, _, ok := strings.Cut(input, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

func parseURL(input string) (*url.URL, *apiError) {
	if !isURL(input) {
		return nil, malformed("a website must start with http:// or https://")
	}
	u, err := url.Parse(input)
	if err != nil || u.Hostname() == "" {
		return nil, malformed("the URL is malformed")
	}
	return u, nil
}
