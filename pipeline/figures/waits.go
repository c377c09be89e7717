package figures

import (
	"time"

	"github.com/bulkcat/bulkcat/pipeline/record"
)

// Waits are the states in which the service holds up a run. Charts show them as bands.
var Waits = []record.State{record.Congested, record.Limited, record.Outage, record.QuotaPause}

var waitNames = map[record.State]string{
	record.Congested: "congested", record.Limited: "limited", record.Outage: "outage", record.QuotaPause: "waiting for quota",
}

// KeyOfWaits says what the bands are, and how long each state took.
func KeyOfWaits(waited map[record.State]time.Duration) (key []Note) {
	for _, state := range Waits {
		if d := waited[state]; d > 0 {
			key = append(key, Note{string(state), waitNames[state] + " " + Duration(d)})
		}
	}
	return key
}
