package cascade

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded/learn"
)

// Audit says how a run has answered for nothing, and how often these answers agree with those of the service.
type Audit struct {
	Source    string    `json:"source"`    // of the free rows
	Begun     time.Time `json:"begun"`     // answers that were stored before are neither free nor in the sample
	Precision float64   `json:"precision"` // the wanted agreement
	Step      int       `json:"step"`      // the number of the threshold, from 1; 0 if nothing is free
	Threshold float64   `json:"threshold"` // the least confidence of a free row; without a step, that of the last audit
	Requests  int64     `json:"requests"`  // different requests that the model is sure about, with the sample

	Cause Cause `json:"cause,omitempty"` // of Step 0

	// The sample is asked, too; 0 without an audit. Requests of the sample disagree if the service gives another first
	// category, or none. Those that are missing have no outcome yet, and count as not agreed.
	Sample    int64 `json:"sample"`
	Disagreed int64 `json:"disagreed"`
	Missing   int64 `json:"missing,omitempty"`

	Level float64 `json:"level,omitempty"` // the confidence level of Bound
	Bound float64 `json:"bound,omitempty"` // the lower bound of the share of the requests to which the service agrees
}

// Cause is why nothing is free.
type Cause string

// The causes.
const (
	Unreached   Cause = "unreached"    // the model does not reach the precision, however sure it is
	NoneSure    Cause = "none_sure"    // the model is sure about no request without a stored answer
	TooFew      Cause = "too_few"      // the sample would be all requests that the model is sure about
	AuditFailed Cause = "audit_failed" // at each threshold
	Unplanned   Cause = "unplanned"    // an offline run has no plan of its requests
)

// why says why nothing is free.
func (a *Audit) why() string {
	switch a.Cause {
	case Unreached:
		return "the cross-validation of the model reaches an agreement of " + percent(a.Precision) + " at no confidence"
	case NoneSure:
		return "the model is sure about no request without a stored answer"
	case TooFew:
		return fmt.Sprintf("the audit would ask for all %d requests that the model is sure about", a.Requests)
	case AuditFailed:
		return fmt.Sprintf("the audit has failed: the service differs in %d of %d audited answers of confidence %s or more, so it may agree with less than %s",
			a.Disagreed, a.Sample, number(a.Threshold), percent(a.Precision))
	}
	return "the store has no plan of these requests, and an offline run makes none"
}

// levelOf is the confidence level of the bound of a step. The steps share the 5% with which any of the bounds of a run may
// be wrong: the first step has half of it, and each further step half of what the one before has.
func levelOf(step int) float64 { return 1 - 0.05*math.Pow(0.5, float64(step)) }

// state computes the bound, rounded down to six digits: the last digits differ from processor to processor.
func (a *Audit) state() {
	a.Level, a.Bound = 0, 0
	if a.Step > 0 && a.Sample > 0 {
		a.Level = levelOf(a.Step)
		a.Bound = math.Floor(1e6*learn.LowerBound(a.Sample-a.Disagreed-a.Missing, a.Sample, a.Level)) / 1e6
	}
}

// Restated is the audit with the bound computed anew.
func (a Audit) Restated() Audit {
	a.state()
	return a
}

// Choice is equal for audits of runs in which the same requests are free; "" for nil.
func (a *Audit) Choice() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s %s step %d", a.Source, a.Begun.Format(time.RFC3339Nano), a.Step)
}

// String says it in words.
func (a Audit) String() string {
	if a.Step == 0 {
		return a.why()
	}
	text := "confidence " + number(a.Threshold) + " or more"
	if a.Sample == 0 {
		return text + "; not audited"
	}
	text += fmt.Sprintf("; since %s the service differs in %d of %d audited answers: it agrees with at least %s (level %s)",
		a.Begun.Format(time.DateOnly), a.Disagreed, a.Sample, percent(a.Bound), percent(a.Level))
	if a.Missing > 0 {
		text += fmt.Sprintf("; incomplete: %d have no answer yet", a.Missing)
	}
	return text
}

// number has four digits: thresholds are in steps of a ten-thousandth, or those of the model.
func number(x float64) string { return strconv.FormatFloat(math.Floor(x*1e4)/1e4, 'f', -1, 64) }

// percent rounds down, as a lower bound is.
func percent(x float64) string {
	return strconv.FormatFloat(math.Floor(x*1e4+1e-6)/100, 'f', -1, 64) + "%"
}
