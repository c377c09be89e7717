package account

import (
	"reflect"

	"github.com/bulkcat/bulkcat/writer/form"
)

// The values of the tag CountOf.
const (
	CountOf    = "of"
	OfRecords  = "records"
	OfRequests = "requests"
)

// Counts are the counts of a run: int64 in the account, and atomic.Int64 while the run counts. The tag "of" says whether a count
// is of records, which a further pass over the input counts from 0, or of requests, which it counts on.
type Counts[N any] struct {
	Read    N `json:"read" of:"records"`             // records read, without Others
	Others  N `json:"others,omitempty" of:"records"` // records of the input that other shards have, or that are not in the sample
	Written N `json:"written" of:"records"`          // records whose rows are in the sink
	Rows    N `json:"rows" of:"records"`

	ByStatus[N] `of:"records"` // as soon as the status is known

	Requests    N        `json:"requests" of:"requests"`                        // attempts made
	Retries     N        `json:"retries" of:"requests"`                         // attempts that followed a failed attempt
	Shared      N        `json:"shared,omitempty" of:"requests"`                // attempts that a gateway has answered or refused without a request of its own
	Rechecks    N        `json:"rechecks" of:"requests"`                        // attempts that repeated an answered request to check the service
	Transient   N        `json:"transient" of:"requests"`                       // attempts with a transient failure
	Rejections  N        `json:"refused" of:"requests"`                         // attempts that ended with a rejection
	WithOutcome N        `json:"requests_with_outcome,omitempty" of:"requests"` // requests that were answered or rejected
	FromStore   N        `json:"from_store" of:"records"`                       // records whose outcome was in the store
	AskedAgain  N        `json:"asked_again,omitempty" of:"requests"`           // stored answers that a refresh has asked again
	Changed     N        `json:"changed,omitempty" of:"requests"`               // of AskedAgain: the categories have changed, or the request is rejected
	Free        N        `json:"free,omitempty" of:"records"`                   // records that a model has answered for free
	Kept        N        `json:"kept" of:"records"`                             // records in parts that an earlier run has published
	Misfits     N        `json:"misfits,omitempty" of:"records"`                // carried values that are null in Parquet, because they do not fit the type of their column
	Bytes       N        `json:"answer_bytes" of:"requests"`                    // of the bodies of answers
	Drift       Drift[N] `json:"drift" of:"records"`
	Basis       Basis[N] `json:"basis,omitzero" of:"records"`
	Unread      N        `json:"unread_pages,omitempty" of:"records"` // records whose page could not be read

	// Only during the run.
	Recalled        N `json:"-" of:"records"`  // records whose outcome an earlier run has stored
	Classifications N `json:"-" of:"requests"` // that each record is asked for
	InFlight        N `json:"-" of:"requests"` // attempts in flight
	Parked          N `json:"-" of:"records"`  // tasks that wait for a retry
	LookedUp        N `json:"-" of:"records"`  // records that were looked up in the store, or kept; once for each classification
	Needed          N `json:"-" of:"requests"` // requests to make: neither stored nor equal to a request in flight
	Ended           N `json:"-" of:"requests"` // of Needed: requests with an outcome, or after their last attempt
	Outages         N `json:"-" of:"requests"` // outages that began
}

// ByStatus counts records by status. Each record counts once for each classification.
type ByStatus[N any] struct {
	OK       N `json:"ok"`
	Empty    N `json:"empty"`
	Rejected N `json:"rejected"`
	Failed   N `json:"failed"`
	Invalid  N `json:"invalid"`
	Blank    N `json:"blank"`
	Pending  N `json:"pending"`
}

// WithStatus returns the count of a status of writer.Statuses; nil for others.
func (b *ByStatus[N]) WithStatus(status form.Status) *N {
	switch status {
	case "ok":
		return &b.OK
	case "empty":
		return &b.Empty
	case "rejected":
		return &b.Rejected
	case "failed":
		return &b.Failed
	case "invalid":
		return &b.Invalid
	case "blank":
		return &b.Blank
	case "pending":
		return &b.Pending
	}
	return nil
}

// Drift counts departures of answers from the interface, which show that a service has changed. The rows have the values of the
// service unchanged.
type Drift[N any] struct {
	Dropped    N `json:"dropped"`    // entries without a value, which have no rows
	Confidence N `json:"confidence"` // entries without a confidence, or with a confidence outside 0 to 1
	Category   N `json:"category"`   // entries whose category is not in the taxonomy
	Order      N `json:"order"`      // answers in which an entry has a higher confidence than one before it
}

// Basis counts records by the basis of their answers: see client.Basis.
type Basis[N any] struct {
	Service N `json:"service,omitempty"`
	Page    N `json:"page,omitempty"`
	Name    N `json:"name,omitempty"`
	Title   N `json:"title,omitempty"`
	Model   N `json:"model,omitempty"`
}

// Of returns the count of a client.Basis; nil for an unknown one.
func (b *Basis[N]) Of(basis string) *N {
	switch basis {
	case "service":
		return &b.Service
	case "page":
		return &b.Page
	case "name":
		return &b.Name
	case "title":
		return &b.Title
	case "model":
		return &b.Model
	}
	return nil
}

// Snapshot has the counts of a run at one moment, for the account.
type Snapshot struct {
	Counts[int64]
	Attempts Attempts `json:"outcomes"`
	Reasons  []Reason `json:"reasons,omitempty"`

	New       float64 `json:"-"` // share of the records looked up lately that need a request
	Finishing bool    `json:"-"` // no further request begins
}

// Attempts counts a run's attempts by how they ended: "answered", "canceled", or the Label of a
// *client.Error.
type Attempts map[string]int64

// Add adds the counts of other attempts.
func (a *Attempts) Add(other Attempts) {
	if *a == nil {
		*a = Attempts{}
	}
	for name, n := range other {
		(*a)[name] += n
	}
}

// Reason is a class of errors for which records have no answer.
type Reason struct {
	Status  form.Status `json:"status"`
	Class   string      `json:"class"` // ClassRow, ClassInput, ClassOther, or the Label of a *client.Error
	Text    string      `json:"reason"`
	Example string      `json:"example,omitempty"` // the service's words about the first record
	Records int64       `json:"records"`
	File    string      `json:"file"` // of the first record
	Line    int64       `json:"line"`

	Option string `json:"-"` // the OptionName of the reader's error that may help; "" for none
}

// The classes of a Reason that are no Label of a *client.Error.
const (
	ClassRow   = "row"   // the record cannot be read
	ClassInput = "input" // the record can be read, but its input cannot be asked
	ClassOther = "other"
)

// Settled is how many records have a status. They include records whose rows wait for an earlier record.
func (s Snapshot) Settled() int64 {
	return (s.OK + s.Empty + s.Blank + s.Unanswered()) / max(1, s.Classifications)
}

// SettledNow is how many records this start has settled, without the records of kept parts and the records whose outcome an
// earlier run has stored.
func (s Snapshot) SettledNow() int64 {
	return s.Settled() - s.Kept - s.Recalled/max(1, s.Classifications)
}

// Unanswered is how many records have an input, and no answer from the service. Each record counts once for each
// classification.
func (s Snapshot) Unanswered() int64 { return s.Rejected + s.Failed + s.Invalid + s.Pending }

// add adds the counts of another run. The reasons are left out.
func (s *Snapshot) add(other *Snapshot) {
	addIntegers(reflect.ValueOf(s).Elem(), reflect.ValueOf(other).Elem())
	s.Attempts.Add(other.Attempts)
}

// addIntegers adds the int64 fields of other to those of sum, including the fields of nested structs.
func addIntegers(sum, other reflect.Value) {
	for i := range sum.NumField() {
		switch field := sum.Field(i); field.Kind() {
		case reflect.Int64:
			field.SetInt(field.Int() + other.Field(i).Int())
		case reflect.Struct:
			addIntegers(field, other.Field(i))
		}
	}
}
