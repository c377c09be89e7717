package record

import (
	"reflect"

	"github.com/bulkcat/bulkcat/writer"
)

// Counts are the numbers of a run: int64 in the account, and atomic.Int64 while the run counts.
type Counts[N any] struct {
	Read    N `json:"read"`                   // records read, without those of other shards
	Others  N `json:"other_shards,omitempty"` // records of the input that other shards have
	Written N `json:"written"`                // records whose rows are in the sink
	Rows    N `json:"rows"`

	// Records by status, as soon as the status is known. Each record counts once for each classification.
	OK       N `json:"ok"`
	Empty    N `json:"empty"`
	Rejected N `json:"rejected"`
	Failed   N `json:"failed"`
	Invalid  N `json:"invalid"`
	Pending  N `json:"pending"`

	Requests   N        `json:"requests"`              // attempts made
	Retries    N        `json:"retries"`               // attempts that followed a failed attempt
	Shared     N        `json:"shared,omitempty"`      // attempts that a gateway has answered or refused without a request of its own
	Rechecks   N        `json:"rechecks"`              // attempts that repeated an answered request to check the service
	Transient  N        `json:"transient"`             // attempts that met a passing failure
	Rejections N        `json:"refused"`               // attempts that ended with a rejection
	Deduped    N        `json:"deduped"`               // requests saved because an equal request was in flight
	FromStore  N        `json:"from_store"`            // requests saved because the store had the answer
	AskedAgain N        `json:"asked_again,omitempty"` // stored answers that a refresh has asked again
	Changed    N        `json:"changed,omitempty"`     // of these, answers with other categories now, or rejections
	Free       N        `json:"free,omitempty"`        // records that a model has answered for nothing
	Kept       N        `json:"kept"`                  // records in parts that an earlier run has published
	Bytes      N        `json:"answer_bytes"`          // of the bodies of answers
	Drift      Drift[N] `json:"drift"`

	// Of a run that goes on.
	Recalled        N `json:"-"` // records whose outcome an earlier run has stored
	Classifications N `json:"-"` // that each record is asked for
	InFlight        N `json:"-"` // attempts in flight
	Parked          N `json:"-"` // tasks that wait for a retry
	LookedUp        N `json:"-"` // records that were looked up in the store, or kept; once for each classification
	Needed          N `json:"-"` // requests that no stored answer and no request in flight has saved
	Ended           N `json:"-"` // of these, requests with an outcome
	Outages         N `json:"-"` // that began
}

// Drift counts departures of answers from the interface, which show that a service has changed. The rows
// have the values as the service gave them.
type Drift[N any] struct {
	Dropped    N `json:"dropped"`    // entries without a value, which have no rows
	Confidence N `json:"confidence"` // entries without a confidence, or with a confidence outside 0 to 1
	Category   N `json:"category"`   // entries whose category is not in the taxonomy
}

// Snapshot is the state of a run's numbers at one moment, as it goes into the account.
type Snapshot struct {
	Counts[int64]
	Attempts Attempts `json:"outcomes"`
	Reasons  []Reason `json:"reasons,omitempty"`
	Misfits  int64    `json:"misfits,omitempty"` // carried values that are null in Parquet, because they do not fit the type of their column

	New       float64 `json:"-"` // share of the records looked up lately that need a request
	Finishing bool    `json:"-"` // no request is begun any more
}

// Attempts counts a run's attempts by how they ended: "answered", "canceled", or the Label of a
// *client.Error.
type Attempts map[string]int64

// Reason is a class of errors for which records have no answer.
type Reason struct {
	Status  writer.Status `json:"status"`
	Class   string        `json:"class"` // ClassRow, ClassInput, ClassOther, or the Label of a *client.Error
	Text    string        `json:"reason"`
	Example string        `json:"example,omitempty"` // the service's words about the first record
	Records int64         `json:"records"`
	File    string        `json:"file"` // of the first record
	Line    int64         `json:"line"`

	Option string `json:"-"` // the OptionName of the reader's error that may help; "" for none
}

// The classes of a Reason that are no Label of a *client.Error.
const (
	ClassRow   = "row"   // the record cannot be read
	ClassInput = "input" // the record can be read, but its input cannot be asked
	ClassOther = "other"
)

// Settled is how many records have a status. Those that are not written yet wait for a record before
// them.
func (s Snapshot) Settled() int64 {
	return (s.OK + s.Empty + s.Unanswered()) / max(1, s.Classifications)
}

// SettledNow is how many records this run has settled: without the records of kept parts, and without
// those whose outcome an earlier run has stored.
func (s Snapshot) SettledNow() int64 {
	return s.Settled() - s.Kept - s.Recalled/max(1, s.Classifications)
}

// Unanswered is how many records have no answer from the service. Each record counts once for each
// classification.
func (s Snapshot) Unanswered() int64 { return s.Rejected + s.Failed + s.Invalid + s.Pending }

// add adds the counts of another run. The reasons are left out.
func (s *Snapshot) add(other *Snapshot) {
	addIntegers(reflect.ValueOf(s).Elem(), reflect.ValueOf(other).Elem())
	attempts := make(Attempts)
	for _, list := range []Attempts{s.Attempts, other.Attempts} {
		for name, n := range list {
			attempts[name] += n
		}
	}
	s.Attempts = attempts
}

// addIntegers adds all int64 fields of two structs, and of the structs in these.
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
