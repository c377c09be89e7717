package embedded

import (
	"context"
	"runtime"
	"slices"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// modelOf returns the model of a classification; nil if there is none.
func modelOf(models []*learn.Model, classification string) *learn.Model {
	if i := slices.IndexFunc(models, func(m *learn.Model) bool { return m.Classification == classification }); i >= 0 {
		return models[i]
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

// takeProcessor waits for one of processors, and returns the function that frees it.
func takeProcessor() (free func()) {
	processors <- struct{}{}
	return func() { <-processors }
}

// matches classifies an input.
func (c *classification) matches(in classify.Input) []classify.Match {
	defer takeProcessor()()
	if c.model != nil {
		return c.model.Predict(c.sample(in), c.most)
	}
	return c.engine().Matches(in, c.most)
}

// sample returns the input of a model.
func (c *classification) sample(in classify.Input) learn.Sample {
	s := learn.SampleOf(in, c.engine().Engine)
	if client.IsCustom(c.name) {
		s.Builtin = learn.AnswersOf(builtin(), in)
	}
	return s
}

// Features returns the features of an input for a model of the request's classification. It charges no key. The error is a
// *client.Error, which says what is wrong with the request, or the context's cause.
func (s *Service) Features(ctx context.Context, r client.Request) (learn.Features, error) {
	c, j, err := s.read(ctx, r)
	if err != nil {
		return learn.Features{}, err
	}
	defer takeProcessor()()
	return learn.FeaturesOf(c.sample(j.Input)), nil
}
