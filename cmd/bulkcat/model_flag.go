package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// modelFlags name the models of the embedded service.
type modelFlags struct {
	given    []string // files
	loaded   []*learn.Model
	editions taxonomy.Choice // of the models
}

// loadModels reads the models, and the taxonomies in them.
func (f *customFlags) loadModels() error {
	f.models.loaded, f.models.editions = nil, nil
	for _, file := range f.models.given {
		m, err := readModel(file)
		if err != nil {
			return err
		}
		for _, other := range f.models.loaded {
			if other.Classification == m.Classification {
				return fmt.Errorf("%s is a model of %s, as another is: choose one", file, m.Classification)
			}
		}
		if err := f.addTree(m, file); err != nil {
			return err
		}
		f.models.loaded = append(f.models.loaded, m)
		if e, ok := m.Published(); ok {
			f.models.editions = append(f.models.editions, e)
		}
	}
	return nil
}

// readModel reads a model from a regular file.
func readModel(file string) (*learn.Model, error) {
	text, err := regular.Read(file, learn.MaxFile)
	if err != nil {
		return nil, err
	}
	return learn.Read(file, text)
}

// addTree adds the custom taxonomy of a model, unless the same taxonomy is given.
func (f *customFlags) addTree(m *learn.Model, file string) error {
	if !client.IsCustom(m.Classification) {
		return nil
	}
	given := f.find(m.Classification)
	switch {
	case given == nil:
		f.loaded = append(f.loaded, m.Custom(file))
	case given.Fingerprint() != m.Edition:
		return fmt.Errorf("%s is a model of another taxonomy than %s: make it again with bulkcat learn, or leave out --taxonomy: the model has the taxonomy that it was made for", file, given.File)
	}
	return nil
}

// used returns an error for a model whose classification is not asked for.
func (f *modelFlags) used(kind client.Kind, classifications []string) error {
	asked := "," + strings.Join(classifications, ",") + ","
	for i, m := range f.loaded {
		if m.Kind != kind || !strings.Contains(asked, ","+m.Classification+",") {
			return &usageError{fmt.Errorf("--model: %s is a model of %ss and of %s, which is not asked for: leave it out, or give --classification %s", f.given[i], m.Kind, m.Classification, m.Classification)}
		}
	}
	return nil
}

// loadFree reads the model of --free.
func (f *runFlags) loadFree(hosted bool) (err error) {
	if f.freeModel == "" {
		return nil
	}
	if !hosted {
		return &usageError{errors.New("--free is for a hosted service: the embedded one costs nothing, and answers with the model that --model names")}
	}
	if f.Free.Precision == 0 {
		return &usageError{errors.New("--precision: it must be more than 0")}
	}
	if f.Free.Model, err = readModel(f.freeModel); err != nil {
		return &usageError{fmt.Errorf("--free: %w", err)}
	}
	return nil
}

// addFreeEdition adds the edition of the model of --free, unless an edition is given, or the classification is not asked for.
func (f *runFlags) addFreeEdition() {
	if f.Free.Model == nil {
		return
	}
	e, ok := f.Free.Model.Published()
	if _, isGiven := f.Editions.Given(e.Name); ok && !isGiven && slices.Contains(f.Classifications, e.Name) {
		f.Editions = append(f.Editions, e)
	}
}
