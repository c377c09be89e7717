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
	Repeated int64 `json:"repeated"`        // requests that are saved because they equal an earlier one
	Answered int64 `json:"answered"`        // different requests whose outcome is stored
	Refresh  int64 `json:"refresh"`         // stored answers to be asked again
	Free     int64 `json:"free,omitempty"`  // requests that a model answers for nothing
	AtRisk   int64 `json:"-"`               // of Free, those that are asked if the audit fails
	Audit    int64 `json:"audit,omitempty"` // requests that the model would answer, and that are asked as a sample

	// Requests that a run by sites, hosts or domains saves, compared with a run by exact spellings.
	Saved         int64 `json:"saved"`
	SavedByHost   int64 `json:"saved_by_host"`
	SavedByDomain int64 `json:"saved_by_domain"`

	Column  string   `json:"column,omitempty"`         // the input columns, several with a comma between; "" for none
	Guessed bool     `json:"column_guessed,omitempty"` // other columns fit as well
	Inputs  []string `json:"inputs"`                   // of the first records, at most FirstInputs

	Digest  string       `json:"-"` // equal for equal sets of different requests
	Quota   client.Usage `json:"-"` // what the API key may still ask; zero if the service does not say
	Rate    float64      `json:"-"` // requests a second, as stated or learned; 0 if unknown
	Learned bool         `json:"-"` // Rate is what an earlier run has learned

	// Of a run that was started before.
	Paid   int64          `json:"-"` // of Answered: requests that the run has asked itself
	Limits limits.Options `json:"-"` // with the requests that the run has made
	By     time.Time      `json:"-"` // its deadline; zero for none
}

// FirstInputs is the number of inputs of a forecast: enough to see what would be asked.
const FirstInputs = 10

// ToAsk is how many requests the run would make, without retries.
func (f Forecast) ToAsk() int64 { return f.Distinct - f.Answered + f.Refresh - f.Free }

// IfAuditFails is the forecast of a run whose audit of the free answers fails at each threshold.
func (f Forecast) IfAuditFails() Forecast {
	f.Free, f.AtRisk = f.Free-f.AtRisk, 0
	return f
}

// Add adds the figures of another run. An input of both runs counts for each: the first run asks, and the second finds
// the stored answer if the store is the same. The digest, the quota and the rate stay.
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
