package embedded

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

// readWebsite reads the name of a website and, if the fetch succeeds, its page.
func (s *Service) readWebsite(ctx context.Context, input string) (prediction, error) {
	u, err := parseURL(input)
	if err != nil {
		return prediction{}, err
	}
	j := prediction{Input: classify.Input{Host: u.Hostname(), Path: pathWords(u.Path)}}
	p, err := s.fetchSite(ctx, input, u)
	if j.fetched(err) {
		j.Page = websiteFields(p)
	}
	return j, nil
}

// readProduct reads the title of a product. For a URL, the title consists of the titles in its page and the words of
// its path.
func (s *Service) readProduct(ctx context.Context, input string) (prediction, error) {
	if !isURL(input) {
		return prediction{Input: classify.Input{Title: []classify.Field{{Name: "title", Text: input}}}, cost: CostNone, basis: client.BasisTitle}, nil
	}
	u, err := parseURL(input)
	if err != nil {
		return prediction{}, err
	}
	j := prediction{}
	p, err := s.fetch(ctx, input)
	if j.fetched(err) {
		j.Title = productTitles(p)
	}
	j.Title = append(j.Title, classify.Field{Name: "path", Text: slugTitle(u.Path)})
	return j, nil
}

// fetched sets the basis and the cost of a prediction after a fetch, and reports whether there is a page.
func (j *prediction) fetched(err error) bool {
	j.cost, j.basis = CostPage, client.BasisPage
	if err != nil {
		j.cost, j.basis, j.unread = CostNone, client.BasisName, !errors.Is(err, page.ErrNever)
	}
	j.local = reasonOf(err) == page.Blocked
	return err == nil
}

func (s *Service) fetch(ctx context.Context, input string) (page.Page, error) {
	if s.opts.Fetch == nil {
		return page.Page{}, page.ErrNever
	}
	p, err := s.opts.Fetch.Fetch(ctx, input)
	if err != nil {
		s.opts.Logger.DebugContext(ctx, "no page was read", "error", err)
	}
	return p, err
}

// websiteFields returns the parts of a page with their weights: parts that describe the site are
// short and have the highest weights.
func websiteFields(p page.Page) []classify.Field {
	return []classify.Field{
		{Name: "title", Text: p.Title, Weight: 3},
		{Name: "og:title", Text: p.OGTitle, Weight: 2},
		{Name: "description", Text: p.Description, Weight: 3},
		{Name: "og:description", Text: p.OGDescription, Weight: 2},
		{Name: "keywords", Text: p.Keywords, Weight: 1.5}, // written for search engines, and often misleading
		{Name: "type", Text: strings.Join(p.Types, ". "), Weight: 2},
		{Name: "section", Text: p.Section, Weight: 2},
		{Name: "site name", Text: p.SiteName, Weight: 1},
		{Name: "breadcrumb", Text: strings.Join(p.Breadcrumb, ". "), Weight: 1},
		{Name: "headings", Text: strings.Join(p.Headings, ". "), Weight: 1.5},
		{Name: "text", Text: p.Text, Weight: 1},
	}
}

// productTitles returns a product's titles in its page, the most reliable first: structured data,
// then titles for visitors. It leaves out the text, most of which is about other products.
func productTitles(p page.Page) (titles []classify.Field) {
	for _, said := range []classify.Field{
		{Name: "product", Text: p.Product},
		{Name: "category", Text: p.Category},
		{Name: "breadcrumb", Text: strings.Join(p.Breadcrumb, " | ")},
		{Name: "heading", Text: strings.Join(p.Headings[:min(1, len(p.Headings))], "")},
		{Name: "og:title", Text: p.OGTitle},
		{Name: "title", Text: p.Title},
	} {
		isRepeated := slices.ContainsFunc(titles, func(other classify.Field) bool { return other.Text == said.Text })
		if said.Text != "" && !isRepeated {
			titles = append(titles, said)
		}
	}
	return titles
}

// isURL reports whether the input is an http or https URL and not a product title.
func isURL(input string) bool {
	scheme, _, ok := strings.Cut(input, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

func parseURL(input string) (*url.URL, error) {
	if !isURL(input) {
		return nil, malformed("a website must start with http:// or https://")
	}
	u, err := weburl.ForRequest(input)
	if err != nil {
		return nil, malformed("the URL is malformed")
	}
	return u, nil
}
