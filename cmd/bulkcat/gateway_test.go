package main

import (
	"flag"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/crash/proof"
)

var gatewayProof = flag.String("gateway", "short", "the proof of TestGatewayKilled: short, troubled or long")

// proofs are those of TestGatewayKilled. In the troubled one the upstream does not serve three times; the long one also
// checks the share of the limit that is used. The clients of the others start and end all the time.
var proofs = map[string]proof.Options{
	"short":    {Clients: 3, Requests: 1500, Rate: 200, Kills: 4, Between: time.Second},
	"troubled": {Clients: 4, Requests: 6000, Rate: 300, Kills: 5, Between: 3 * time.Second, Troubles: 3},
	"long":     {Clients: 8, Requests: 200_000, Rate: 300, Kills: 20, Between: 18 * time.Second, Used: true},
}

// TestGatewayKilled has several runs ask a gateway that is killed: see package proof. `make crash` runs the troubled proof,
// `make gateway` the long one. With -artifacts the files are kept.
func TestGatewayKilled(t *testing.T) {
	t.Parallel() // the test mostly waits
	o, ok := proofs[*gatewayProof]
	if !ok {
		t.Fatalf("there is no proof %q", *gatewayProof)
	}
	o.Bulkcat, o.Dir, o.Seed = selfAsBulkcat(t), t.ArtifactDir(), killSeed()
	t.Logf("seed %d", o.Seed)
	report, err := proof.Run(t.Context(), o)
	t.Logf("\n%v", report)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Check(o); err != nil {
		t.Error(err)
	}
	if report.Kills == 0 {
		t.Error("no gateway was killed")
	}
}
