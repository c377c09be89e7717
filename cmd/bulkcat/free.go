package main

import (
	"errors"
	"fmt"
	"slices"
)

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

// addFreeEdition adds the edition of the model of --free, unless another is given, or the classification is not asked for.
func (f *runFlags) addFreeEdition() {
	if f.Free.Model == nil {
		return
	}
	e, ok := f.Free.Model.Published()
	if _, isGiven := f.Editions.Given(e.Name); ok && !isGiven && slices.Contains(f.Classifications, e.Name) {
		f.Editions = append(f.Editions, e)
	}
}
