package pipeline

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/forecast"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
)

// Types of other packages that the caller of a session needs.
type (
	OutputOptions = output.Options    // the place and the form of the output
	Each          = flow.Each         // takes the answers
	Forecast      = forecast.Forecast // the result of DryRun

	OptionError        = output.OptionError       // an option cannot be used
	StopError          = flow.StopError           // the run stopped early, and can be started again
	ServiceError       = flow.ServiceError        // the service cannot be used with these settings
	MisconfiguredError = flow.MisconfiguredError  // the service rejects every input
	UnreachableError   = flow.UnreachableError    // the service has never answered
	AttemptsError      = flow.AttemptsError       // a record has no answer after all its attempts
	OutputTakenError   = output.TakenError        // the run may not replace the output
	InputChangedError  = output.InputChangedError // the input has changed since the kept parts were written
)

// ErrPending is the error of a record whose answer is not in the store of an offline run.
var ErrPending = flow.ErrPending

const (
	// LevelsOfTaxonomy asks for as many columns level_1, level_2, ... as the deepest taxonomy has levels.
	LevelsOfTaxonomy = output.LevelsOfTaxonomy
	// HurriedGrace is the longest grace period after Options.Hurry is closed.
	HurriedGrace = flow.HurriedGrace
)

// EndingOf returns the ending of a run with this error; nil is Complete.
func EndingOf(err error) account.Ending { return flow.EndingOf(err) }

// NoStoreError says that an offline run has no store: the output is a stream, and no store is named.
type NoStoreError struct {
	Output string
}

func (e *NoStoreError) Error() string {
	return fmt.Sprintf("there are no stored answers to write %s from", e.Output)
}

// resumable reports whether the same run can continue after an error: the run was stopped, or a system call failed, such as on
// a full disk.
func resumable(err error) bool {
	_, refused := errors.AsType[*ServiceError](err)
	if _, unreachable := errors.AsType[*UnreachableError](err); refused || unreachable {
		return false
	}
	_, stopped := errors.AsType[*StopError](err)
	_, failed := errors.AsType[syscall.Errno](err)
	return stopped || failed
}
