package pipeline

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/forecast"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// What a caller of a session meets, and other packages define.
type (
	OutputOptions = output.Options    // where rows go, and in which form
	Each          = flow.Each         // takes the answers
	Forecast      = forecast.Forecast // what a run would do
	Progress      = progress.Progress // how far a run is

	OptionError        = output.OptionError       // an option cannot be used
	StopError          = flow.StopError           // the run stopped early, and can be started again
	ServiceError       = flow.ServiceError        // the service cannot be used with these settings
	MisconfiguredError = flow.MisconfiguredError  // the service rejects every input
	UnreachableError   = flow.UnreachableError    // the service has never answered
	AttemptsError      = flow.AttemptsError       // a record has no answer after all its attempts
	OutputTakenError   = output.TakenError        // the output is not this run's to replace
	InputChangedError  = output.InputChangedError // the input is not that of the kept parts
)

// ErrPending is the error of a record whose answer an offline run has not found in the store.
var ErrPending = flow.ErrPending

const (
	// LevelsOfTaxonomy asks for as many columns level_1, level_2, ... as the deepest taxonomy has levels.
	LevelsOfTaxonomy = output.LevelsOfTaxonomy
	// HurriedGrace is the longest grace period once the caller hurries.
	HurriedGrace = flow.HurriedGrace
)

// EndingOf returns the ending of a run with this error; nil is Complete.
func EndingOf(err error) account.Ending { return flow.EndingOf(err) }

// NoStoreError says that an offline run has no place to look for stored answers: the output is a stream,
// and no store is named.
type NoStoreError struct {
	Output string
}

func (e *NoStoreError) Error() string {
	return fmt.Sprintf("there are no stored answers to write %s from", e.Output)
}

// resumable reports whether the same run gets further after an error: the run was stopped, or this
// machine failed, as with a full disk.
func resumable(err error) bool {
	_, refused := errors.AsType[*ServiceError](err)
	if _, unreachable := errors.AsType[*UnreachableError](err); refused || unreachable {
		return false
	}
	_, stopped := errors.AsType[*StopError](err)
	_, failed := errors.AsType[syscall.Errno](err)
	return stopped || failed
}
