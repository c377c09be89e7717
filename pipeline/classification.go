package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
)

// DefaultClassifications returns the default classifications of a kind: those of the models and, for products, those of the
// custom taxonomies. If there are none, the default is the first classification of the kind.
func DefaultClassifications(kind client.Kind, custom []*taxonomy.Custom, models []*learn.Model) []string {
	var names []string
	for _, t := range custom {
		if kind == client.Product {
			names = append(names, t.Name)
		}
	}
	for _, m := range models {
		if m.Kind == kind && !slices.Contains(names, m.Classification) {
			names = append(names, m.Classification)
		}
	}
	if names == nil {
		return client.Classifications(kind)[:1]
	}
	return names
}

// fingerprints returns the part of the service's name that changes with each custom taxonomy and each model. After such a change
// neither stored answers nor the parts of an output are used again.
func fingerprints(classifications []string, custom []*taxonomy.Custom, models []*learn.Model) string {
	text := ""
	for _, name := range classifications {
		for _, t := range custom {
			if t.Name == name {
				text += "+" + t.Fingerprint()
			}
		}
		for _, m := range models {
			if m.Classification == name {
				text += "+" + m.Fingerprint()
			}
		}
	}
	return text
}

// classification returns a classification with the ids of its categories.
func (o *Options) classification(name string) flow.Classification {
	t := o.Editions.Taxonomy(name, o.Taxonomies)
	if t == nil {
		return flow.Classification{Name: name}
	}
	if edition, ok := o.Editions.Of(name); ok && slices.Contains(edition.Languages(), o.Output.Language) {
		t = edition.In(o.Output.Language)
	}
	return flow.Classification{Name: name, Index: taxonomy.NewIndex(t)}
}

// unknownLevels is the assumed depth of a taxonomy that only a hosted service knows: a custom product taxonomy, which is assumed
// to be as deep as the published product taxonomy.
const unknownLevels = 7

// deepest returns the number of levels of the deepest classification.
func (o *Options) deepest() int {
	levels := 0
	for _, name := range o.Classifications {
		if t := o.Editions.Taxonomy(name, o.Taxonomies); t != nil {
			levels = max(levels, t.Levels())
		} else {
			levels = max(levels, unknownLevels)
		}
	}
	return levels
}

// languages returns the further languages in which the run's categories have names.
func (o *Options) languages() (list []string) {
	classifications := o.Classifications
	if len(classifications) == 0 {
		classifications = DefaultClassifications(o.Kind, o.Taxonomies, o.AllModels())
	}
	for _, name := range classifications {
		if edition, ok := o.Editions.Of(name); ok {
			list = append(list, edition.Languages()...)
		}
	}
	return list
}

func unknownLanguage(language string, known []string) string {
	if len(known) == 0 {
		return "the categories of these classifications have no names in other languages: leave the option out, or ask for product_taxonomy"
	}
	return fmt.Sprintf("%q must be one of %s", language, strings.Join(known, ", "))
}
