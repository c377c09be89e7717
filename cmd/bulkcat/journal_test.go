package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/scripts/process"
)

var journalKills = flag.Int("journal-kills", 4, "kills of a run whose account is compared with the requests of the service")

// TestAccountAfterKills kills a run. For each killed process the account's requests and those that the service
// has counted differ by at most the requests that were in flight.
func TestAccountAfterKills(t *testing.T) {
	t.Parallel() // the test mostly waits
	const (
		rate    = 250                   // requests a second
		workers = 16                    // requests in flight at most
		latency = 60 * time.Millisecond // with the rate nearly all workers ask
	)
	dir := t.TempDir()
	writeTitles(t, filepath.Join(dir, "in.txt"), 5_000)
	service := clienttest.New(clienttest.Options{Latency: latency, Faults: map[clienttest.Fault]float64{clienttest.Error500: 0.05}})
	url, stop := service.Listen()
	defer stop()
	run := func(rate int) *process.Process {
		return start(t, bulkcatCommand(t, dir, url, "product", "in.txt", "-o", "out.csv", "--rate", fmt.Sprint(rate, "/s"), "--workers", fmt.Sprint(workers), "--price", "0.0015"))
	}
	random, arrived := rand.New(rand.NewPCG(1, 2)), []int{0}
	status := runfiles.StatusPath(filepath.Join(dir, "out.csv"))
	for kill := range *journalKills {
		p := run(rate)
		for before := arrived[len(arrived)-1]; len(service.Audit().Arrivals) == before || !exists(status); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(random.Int64N(int64(1500 * time.Millisecond))))
		p.Kill()
		if kill == 0 {
			checkStatus(t, status, p.PID())
		}
		time.Sleep(50 * time.Millisecond) // requests in flight arrive
		arrived = append(arrived, len(service.Audit().Arrivals))
	}
	wantStatus(t, run(20*rate), exitComplete)
	a, err := runfiles.ReadAccount(t.Context(), filepath.Join(dir, "out.csv.run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Earlier) != *journalKills {
		t.Fatalf("the account has %d earlier starts, want %d", len(a.Earlier), *journalKills)
	}
	asked, least, most := a.Counts.Requests, 0, 0
	for i, e := range a.Earlier {
		asked += e.Counts.Requests
		missing := arrived[i+1] - arrived[i] - int(e.Counts.Requests)
		least, most = min(least, missing), max(most, missing)
		if e.Ending != account.Killed || max(missing, -missing) > workers {
			t.Errorf("start %d (%s): %d of %d requests are not in the account", i+1, e.Ending, missing, arrived[i+1]-arrived[i])
		}
	}
	counted := len(service.Audit().Arrivals)
	t.Logf("the service counted %d requests, the account %d; a start has at most %d too few and %d too many", counted, asked, most, -least)
	if last := counted - arrived[*journalKills]; int(a.Counts.Requests) != last {
		t.Errorf("the last start has %d requests, the service counted %d", a.Counts.Requests, last)
	}
	if cost, want := a.Cost, (money.Price{Request: 1_500_000, Currency: "USD"}); cost.Price != want || cost.Total != want.Of(asked) {
		t.Errorf("%d requests cost %+v", asked, cost)
	}
	first, last := a.Timeline[0], a.Timeline[len(a.Timeline)-1]
	requests := int64(0)
	for _, span := range a.Timeline {
		requests += span.Requests
	}
	if first.Start != 1 || last.Start != *journalKills+1 || last.Ending != account.Complete || requests != asked {
		t.Errorf("the time line has %d requests from start %d to %d, which is %s", requests, first.Start, last.Start, last.Ending)
	}
	if _, err := os.Stat(filepath.Dir(a.StatusFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the run: %v", err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkStatus wants the status of a killed process.
func checkStatus(t *testing.T, path string, pid int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s account.Status
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if s.State == account.Ended || s.PID != pid || s.Updated.Before(s.Started) {
		t.Errorf("got\n%s", text)
	}
	if bytes.Contains(text, []byte(testKey)) {
		t.Error("the status has the API key")
	}
}
