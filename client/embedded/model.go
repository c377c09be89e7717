package embedded

import (
	"context"
	"errors"
	"runtime"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// modelOf returns the model of a classification; nil if there is none.
func modelOf(models []*learn.Model, classification string) *learn.Model {
	for _, m := range models {
		if m.Classification == classification {
			return m
		}
	}
	return nil
}

// processors bounds the number of inputs that are classified at the same time: each takes half a megabyte of memory.
var processors = make(chan struct{}, runtime.GOMAXPROCS(0))

// editionsOf returns the published editions in which models answer.
func editionsOf(models []*learn.Model) (editions taxonomy.Choice) {
	for _, m := range models {
		if e, ok := m.Published(); ok {
			editions = append(editions, e)
		}
	}
	return editions
}

func (c *classification) matches(j prediction) []classify.Match {
	processors <- struct{}{}
	defer func() { <-processors }()
	switch {
	case c.model != nil:
		return c.model.Predict(c.sample(j), c.most)
	case j.host != "":
		return c.engine().Website(j.host, j.path, j.fields, c.most)
	}
	return c.engine().Title(j.title)
}

// sample returns the input of a model.
func (c *classification) sample(j prediction) learn.Sample {
	own := c.engine()
	if j.host != "" {
		return learn.Sample{Host: j.host, Fields: j.fields, Engine: learn.Answers{
			Taxonomy: own.Taxonomy(), Matches: own.WebsiteCandidates(j.host, j.path, j.fields),
		}}
	}
	s := learn.Sample{Fields: []classify.Field{{Text: j.title, Weight: 1}}, Engine: learn.Answers{Taxonomy: own.Taxonomy(), Matches: own.TitleCandidates(j.title)}}
	if client.IsCustom(c.name) {
		s.Builtin = learn.Answers{Taxonomy: builtin().Taxonomy(), Matches: builtin().TitleCandidates(j.title)}
	}
	return s
}

// Features returns the features of an input for a model of the request's classification. It charges no key. The error says what
// is wrong with the request, or is the context's cause.
func (s *Service) Features(ctx context.Context, r client.Request) (learn.Features, error) {
	op := s.operation(r.Kind)
	c, problem := op.classification(r.Classification)
	if problem != nil {
		return learn.Features{}, errors.New(problem.Message)
	}
	j, problem := op.predict(ctx, c, r.Input)
	if problem != nil {
		return learn.Features{}, rejection(problem)
	}
	if ctx.Err() != nil { // the fetch was canceled
		return learn.Features{}, context.Cause(ctx)
	}
	return learn.FeaturesOf(c.sample(j)), nil
}

// The fields of a model's contributions: words of labelled inputs, and the engine's own answer.
const (
	labelField  = "labels"
	engineField = "engine"
)

// explainModel classifies an input with the model, and returns the contributions of the words and of the engine.
func (c *classification) explainModel(j prediction) ([]classify.Match, []Contribution) {
	matches, found := c.model.Explain(c.sample(j), c.most)
	categories := c.engine().Taxonomy().Categories
	list := make([]Contribution, len(found))
	for i, f := range found {
		path := categories[f.Category].Path
		list[i] = Contribution{
			Value: path, Speaker: path, Words: f.Words, Fields: []string{labelField}, Weight: f.Weight, Share: f.Share, Seen: f.Seen,
		}
		if f.Words == "" {
			list[i].Words, list[i].Fields = "(the words of its names)", []string{engineField}
		}
	}
	return matches, list
}
