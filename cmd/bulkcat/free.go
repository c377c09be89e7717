package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// shareValue is a share such as 95% or 0.95.
type shareValue float64

func (v *shareValue) Set(text string) error {
	number, isPercent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if isPercent {
		x /= 100
	}
	if err != nil || !(x >= 0 && x <= 1) {
		return fmt.Errorf("%q is no share from 0 to 1: write 0.95 or 95%%", text)
	}
	*v = shareValue(x)
	return nil
}

func (v *shareValue) String() string { return strconv.FormatFloat(float64(*v)*100, 'g', 10, 64) + "%" }

func (*shareValue) Type() string { return "SHARE" }
