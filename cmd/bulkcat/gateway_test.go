package main

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/gateway/proof"
)

// TestGatewayKilled has three runs ask a gateway that is killed four times. `make gateway` does so with 200,000
// requests, and also checks the share of the limit that is used.
func TestGatewayKilled(t *testing.T) {
	t.Parallel() // the test mostly waits
	report, err := proof.Run(t.Context(), proof.Options{
		Bulkcat: selfAsBulkcat(t), Dir: t.TempDir(), Clients: 3, Requests: 1500, Rate: 200, Kills: 4, Between: time.Second, Seed: 1,
	})
	t.Logf("\n%v", report)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Check(0, 0); err != nil {
		t.Error(err)
	}
	if report.Kills == 0 {
		t.Error("no gateway was killed")
	}
}
