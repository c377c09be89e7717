package account

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Audit reports the free answers of a run, and how often the service agrees with them.
type Audit struct {
	Source    string    `json:"source"`    // the source of free rows
	Begun     time.Time `json:"begun"`     // when the plan was made; answers stored before are neither free nor in the sample
	Precision float64   `json:"precision"` // the required share of agreement, from 0 to 1
	Step      int       `json:"step"`      // from 1; 0 if no answer is free
	Threshold float64   `json:"threshold"` // the lowest confidence of a free row; at Step 0, the threshold of the last failed audit
	Requests  int64     `json:"requests"`  // distinct requests that reach the threshold, including the sample

	Cause AuditCause `json:"cause,omitempty"` // why no answer is free; "" unless Step is 0

	// Sample is the number of requests that the audit sends; 0 without an audit. Disagreed have another first category from the
	// service, or none. Missing have no outcome yet; Bound counts them as disagreeing.
	Sample    int64 `json:"sample"`
	Disagreed int64 `json:"disagreed"`
	Missing   int64 `json:"missing,omitempty"`

	Level float64 `json:"level,omitempty"` // confidence level of Bound, from 0 to 1
	Bound float64 `json:"bound,omitempty"` // lower bound of the share of requests that agree, from 0 to 1
}

// AuditCause is why no answer is free.
type AuditCause string

// The causes.
const (
	Unreached   AuditCause = "unreached"    // the model reaches the precision at no threshold
	NoneSure    AuditCause = "none_sure"    // the model is sure about no request without a stored answer
	TooFew      AuditCause = "too_few"      // the sample would be all requests that reach the threshold
	AuditFailed AuditCause = "audit_failed" // the audit of each step has failed
	Unplanned   AuditCause = "unplanned"    // the run is offline, and the store has no plan for its requests
)

// causeText describes Cause.
func (a *Audit) causeText() string {
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

// Choice identifies the set of free requests: runs with equal Choice answer the same requests for free. It is "" for nil.
func (a *Audit) Choice() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s %s step %d", a.Source, a.Begun.Format(time.RFC3339Nano), a.Step)
}

// String describes the audit.
func (a Audit) String() string {
	if a.Step == 0 {
		return a.causeText()
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

// number formats a threshold with up to four decimals, rounded down.
func number(x float64) string { return strconv.FormatFloat(math.Floor(x*1e4)/1e4, 'f', -1, 64) }

// percent formats a share as a percentage with up to two decimals, rounded down.
func percent(x float64) string {
	return strconv.FormatFloat(math.Floor(x*1e4+1e-6)/100, 'f', -1, 64) + "%"
}
