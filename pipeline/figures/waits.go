package figures

import (
	"time"

	"github.com/bulkcat/bulkcat/pipeline/record"
)

var waitNames = map[record.State]string{
	record.Congested: "congested", record.Limited: "limited", record.Outage: "outage", record.QuotaPause: "waiting for quota",
}

// KeyOfWaits returns the legend of the bands: each state with its total duration.
func KeyOfWaits(waited map[record.State]time.Duration) (key []Note) {
	for _, state := range record.Waits {
		if d := waited[state]; d > 0 {
			key = append(key, Note{string(state), waitNames[state] + " " + Duration(d)})
		}
	}
	return key
}
