package figures

import (
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

var waitNames = map[account.State]string{
	account.Congested: "congested", account.Limited: "limited", account.Outage: "outage", account.QuotaPause: "waiting for quota",
}

// KeyOfWaits returns the legend of the bands: each state with its total duration.
func KeyOfWaits(waited map[account.State]time.Duration) (key []Note) {
	for _, state := range account.Waits {
		if d := waited[state]; d > 0 {
			key = append(key, Note{string(state), waitNames[state] + " " + Duration(d)})
		}
	}
	return key
}
