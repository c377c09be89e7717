package notify

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
)

// Event is one message about a run. Its JSON goes to the receiver. An event has no secrets.
type Event struct {
	Format   int       `json:"format"` // version of the message format; 1
	ID       string    `json:"id"`     // the same in each attempt to deliver the event
	Occasion Occasion  `json:"event"`
	Time     time.Time `json:"time"`
	Facts
}

// Facts describe the progress of a run, or its end.
type Facts struct {
	Bulkcat string   `json:"bulkcat"`           // the version of the program
	Status  *int     `json:"status,omitempty"`  // the exit status; nil while the run goes on
	Ending  string   `json:"ending,omitempty"`  // complete, failed, interrupted, quota, budget, deadline, outage or expectation; "" while the run goes on
	Error   string   `json:"error,omitempty"`   // the error that ended the run
	Kind    string   `json:"kind"`              // website or product
	Inputs  []string `json:"inputs"`            // as named on the command line
	Output  string   `json:"output"`            // as named on the command line
	Account string   `json:"account,omitempty"` // the file with the report of the run; "" if there is none
	Seconds float64  `json:"seconds"`           // since the program started the run
	Counts  Counts   `json:"counts"`

	Cost   *money.Cost `json:"cost,omitempty"`   // nil without a price
	Broken []string    `json:"broken,omitempty"` // the expectations that the output does not meet, each with the value in the output
}

// Counts are the numbers of a run.
type Counts struct {
	Records    int64 `json:"records"` // records that have a status
	Rows       int64 `json:"rows"`
	OK         int64 `json:"ok"`
	Empty      int64 `json:"empty"`
	Blank      int64 `json:"blank"`
	Unanswered int64 `json:"unanswered"` // rejected, failed, invalid or pending
	Requests   int64 `json:"requests"`   // attempts
	Retries    int64 `json:"retries"`
	FromStore  int64 `json:"from_store"` // records whose outcome was in the store
}

// Occasion is a kind of event.
type Occasion string

// The occasions.
const (
	End    Occasion = "end"    // the run is complete, or failed
	Stop   Occasion = "stop"   // the run ended early and can be resumed
	Outage Occasion = "outage" // the service is down, and the run waits
	Quota  Occasion = "quota"  // the run has used a share of the quota
)

// Occasions are the occasions on which events are posted.
type Occasions struct {
	End, Stop, Outage bool

	Quota float64 // post an event when this share of the quota is used, from 0 to 1; 0 for no event
}

// ParseOccasions parses names separated by commas, such as "end,stop,outage,quota=80%".
func ParseOccasions(text string) (Occasions, error) {
	var o Occasions
	for name := range strings.SplitSeq(text, ",") {
		share, isQuota := strings.CutPrefix(name, string(Quota)+"=")
		switch {
		case name == string(End):
			o.End = true
		case name == string(Stop):
			o.Stop = true
		case name == string(Outage):
			o.Outage = true
		case isQuota:
			percent, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
			if err != nil || !strings.HasSuffix(share, "%") || !(percent > 0 && percent <= 100) {
				return o, fmt.Errorf("%q is no share of the quota: write quota=80%%", name)
			}
			o.Quota = percent / 100
		default:
			return o, fmt.Errorf("%q is no occasion: choose end, stop, outage, quota=80%%, or several with a comma between", name)
		}
	}
	return o, nil
}

// has reports whether o includes an occasion.
func (o Occasions) has(occasion Occasion) bool {
	return o.End && occasion == End || o.Stop && occasion == Stop ||
		o.Outage && occasion == Outage || o.Quota > 0 && occasion == Quota
}

// Format is the form of a message.
type Format string

// The formats.
const (
	JSON  Format = "json"  // the JSON of Event
	Slack Format = "slack" // {"text": "..."}, for Slack and compatible webhooks
)

// body encodes an event.
func (f Format) body(e Event) ([]byte, error) {
	if f == Slack {
		escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(e.sentence())
		return json.Marshal(map[string]string{"text": escaped})
	}
	return json.Marshal(e)
}

// sentence describes the event in words.
func (e Event) sentence() string {
	c, output := e.Counts, e.Output
	if output == "-" {
		output = "standard output"
	}
	var text strings.Builder
	switch e.Occasion {
	case Outage:
		fmt.Fprintf(&text, "bulkcat waits: %s: the service is out", output)
	case Quota:
		fmt.Fprintf(&text, "bulkcat uses much of the quota: %s", output)
	case Stop:
		fmt.Fprintf(&text, "bulkcat stopped (%s), resumable: %s", e.Ending, output)
	default:
		fmt.Fprintf(&text, "bulkcat: %s: %s", e.Ending, output)
	}
	fmt.Fprintf(&text, "; %d records, %d unanswered, %d requests, %v", c.Records, c.Unanswered, c.Requests, time.Duration(math.Round(e.Seconds))*time.Second)
	if e.Cost != nil {
		text.WriteString(", " + e.Cost.Price.Text(e.Cost.Total))
	}
	if e.Status != nil {
		fmt.Fprintf(&text, ", exit status %d", *e.Status)
	}
	for _, broken := range e.Broken {
		text.WriteString("\nnot met: " + broken)
	}
	if e.Error != "" {
		text.WriteString("\n" + e.Error)
	}
	return text.String()
}
