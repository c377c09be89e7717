// Package forecast has the figures of a forecast, and counts different requests.
package forecast

import (
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// Forecast says what a run would do.
type Forecast struct {
	Records  int64 `json:"records"`         // read
	Invalid  int64 `json:"invalid"`         // records that cannot be asked
	Blank    int64 `json:"blank"`           // records without an input
	Distinct int64 `json:"distinct"`        // different requests
	Repeated int64 `json:"repeated"`        // requests that are saved because they equal an earlier request
	Answered int64 `json:"answered"`        // different requests whose outcome is stored
	Refresh  int64 `json:"refresh"`         // stored answers to be asked again
	Free     int64 `json:"free,omitempty"`  // requests that a model answers for free
	AtRisk   int64 `json:"-"`               // of Free: requests that are asked if the audit fails
	Audit    int64 `json:"audit,omitempty"` // requests that the audit sends to the service

	// Requests that a run with dedupe by site, host or domain saves, compared with exact dedupe.
	Saved         int64 `json:"saved"`
	SavedByHost   int64 `json:"saved_by_host"`
	SavedByDomain int64 `json:"saved_by_domain"`

	Column  string   `json:"column,omitempty"`         // the input columns, separated by commas; "" for none
	Guessed bool     `json:"column_guessed,omitempty"` // other columns fit as well
	Inputs  []string `json:"inputs"`                   // of the first records, at most FirstInputs

	Digest  string       `json:"-"` // equal for equal sets of different requests
	Quota   client.Usage `json:"-"` // how much quota the API key has left; zero if the service does not say
	Rate    float64      `json:"-"` // requests per second, given, stated or learned; 0 if unknown
	Learned bool         `json:"-"` // an earlier run has learned Rate

	Paid   int64          `json:"-"` // of Answered: requests that earlier starts of the run have asked
	Limits limits.Options `json:"-"` // Made counts the requests of earlier starts of the run
	By     time.Time      `json:"-"` // the deadline of the run; zero for none
}

// FirstInputs is the maximum number of inputs in a forecast: enough to recognize a wrong column.
const FirstInputs = 10

// ToAsk returns how many requests the run would make, without retries.
func (f Forecast) ToAsk() int64 { return f.Distinct - f.Answered + f.Refresh - f.Free }

// IfAuditFails returns the forecast of a run whose audit of the free answers fails at each threshold.
func (f Forecast) IfAuditFails() Forecast {
	f.Free, f.AtRisk = f.Free-f.AtRisk, 0
	return f
}

// Add adds the figures of another run, except the digest, the quota and the rate. An input of both runs counts twice, although
// the second run would find its answer in a common store.
func (f *Forecast) Add(other Forecast) {
	f.Records += other.Records
	f.Invalid += other.Invalid
	f.Blank += other.Blank
	f.Distinct += other.Distinct
	f.Repeated += other.Repeated
	f.Answered += other.Answered
	f.Refresh += other.Refresh
	f.Free += other.Free
	f.AtRisk += other.AtRisk
	f.Audit += other.Audit
	f.Saved += other.Saved
	f.SavedByHost += other.SavedByHost
	f.SavedByDomain += other.SavedByDomain
	f.Paid += other.Paid
}
