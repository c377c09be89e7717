package browser

import (
	"maps"
	"math"
	"math/rand/v2"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// phase is a part of the recording.
type phase struct {
	state    account.State
	seconds  int
	requests float64            // a second, at the end of the phase; the rate moves there from that of the phase before
	shares   map[string]float64 // of the requests that are not answered, by outcome
	latency  float64            // median, in seconds
}

var phases = []phase{
	{account.Starting, 15, 0, nil, 0},
	{account.Asking, 240, 420, map[string]float64{"429": 0.01, "404": 0.012}, 0.11},
	{account.Asking, 620, 520, map[string]float64{"429": 0.03, "404": 0.012, "500": 0.002}, 0.14},
	{account.Limited, 210, 6, map[string]float64{"429": 1}, 0.03},
	{account.Asking, 60, 380, map[string]float64{"429": 0.02, "404": 0.012}, 0.13},
	{account.Asking, 800, 450, map[string]float64{"429": 0.02, "404": 0.012, "500": 0.004, "timeout": 0.001}, 0.16},
	{account.Congested, 40, 12, map[string]float64{"503": 0.8, "timeout": 0.15}, 0.9},
	{account.Outage, 230, 1, map[string]float64{"503": 0.7, "no response": 0.3}, 0.05},
	{account.Congested, 25, 20, map[string]float64{"503": 0.3}, 0.4},
	{account.Asking, 620, 490, map[string]float64{"429": 0.015, "404": 0.012, "500": 0.003}, 0.15},
	{account.QuotaPause, 300, 0, nil, 0},
	{account.Asking, 440, 470, map[string]float64{"429": 0.02, "404": 0.012, "500": 0.002}, 0.14},
}

// The recording ends in the middle of a list.
const (
	recordedTotal  = 2_990_000
	recordedStored = 122_000 // records with answers of the earlier starts
)

var recordedStart = time.Date(2026, 11, 25, 8, 12, 30, 0, time.UTC)

// recording is an hour of a run that is half done, in statuses, one for each second. It is made: the service limits the run, is
// out, and its quota ends and is renewed.
func recording() (list []account.Status) {
	random := rand.New(rand.NewPCG(1, 2))
	price := money.Price{Request: 2_000_000, Currency: "EUR"}
	quota := int64(1_180_000)
	s := account.Status{
		Format: account.StatusFormat, Output: "/srv/customers/2026/november/websites-categorized.parquet", PID: 48213, Started: recordedStart, Total: recordedTotal,
		Outcomes: account.Attempts{}, Quota: &quota,
		Details: &account.Details{
			Service: "https://api.example.com", Learned: "520 requests/s",
			Settings: account.Settings{Kind: "website", Classification: "taxonomy_v3", Inputs: []string{recordedInput}, Output: "websites-categorized.parquet", OutputFormat: "parquet"},
			Attempts: account.Latency{Bounds: latencyBounds, Counts: make([]int64, len(latencyBounds)+1)},
			Earlier: []account.EarlierStart{
				{Started: recordedStart.Add(-26 * time.Hour), Ended: recordedStart.Add(-25 * time.Hour), Ending: "interrupted", Requests: 81_204},
				{Started: recordedStart.Add(-3 * time.Hour), Ended: recordedStart.Add(-170 * time.Minute), Ending: account.Killed, Requests: 24_377},
			},
		},
	}
	requests, before := 0.0, 0.0
	at := recordedStart
	for _, p := range phases {
		s.State, s.Since = p.state, at
		from := before
		if p.requests < 30 {
			from = p.requests // the service stops at once
		}
		for i := range p.seconds {
			at = at.Add(time.Second)
			rate := (from + (p.requests-from)*math.Min(1, float64(i)/25)) * (1 + 0.05*random.NormFloat64())
			requests += max(0, rate)
			made := int64(requests) - s.Requests
			s.Requests += made
			s.Outcomes, s.Details = maps.Clone(s.Outcomes), cloned(s.Details)
			answered := made
			for _, name := range []string{"404", "429", "500", "503", "no response", "timeout"} {
				n := min(answered, int64(float64(made)*p.shares[name]*(0.6+0.8*random.Float64())+random.Float64()))
				if p.shares[name] == 1 {
					n = answered
				}
				if p.shares[name] > 0 {
					s.Outcomes[name] += n
					answered -= n
				}
				if name != "404" && p.shares[name] > 0 {
					s.Retries += n
				}
			}
			s.Outcomes["answered"] += answered
			for range made {
				duration := p.latency * math.Exp(0.45*random.NormFloat64())
				s.Details.Attempts.Seconds += duration
				s.Details.Attempts.Counts[bucket(duration)]++
			}
			quota -= answered
			left := quota + int64(len(list)/3000)*900_000
			s.Quota = &left
			if p.state == account.QuotaPause {
				none := int64(0)
				s.Quota = &none
			}
			s.Records = recordedStored + (s.Outcomes["answered"]+s.Outcomes["404"])*109/100
			s.Unanswered = s.Outcomes["404"] + 1310
			s.RequestsPerSecond, s.RecordsPerSecond = float64(made), float64(answered)*1.09
			s.InFlight, s.ToRetry = int64(rate*p.latency*1.1), int64(rate*0.2)
			s.Allowed = 520
			if p.requests < 30 {
				s.Allowed = 5
			}
			s.Ends, s.SecondsLeft, s.Updated = nil, 0, at
			if answered > 100 {
				s.SecondsLeft = float64(recordedTotal-s.Records) / 470
				ends := at.Add(time.Duration(s.SecondsLeft * float64(time.Second)))
				s.Ends = &ends
			}
			s.Cost = &money.Cost{Price: price, Spent: price.Of(s.Requests), Total: price.Of(s.Requests + 105_581), Saved: price.Of(recordedStored + s.Records*8/100)}
			details(s.Details, s)
			list = append(list, s)
		}
		before = p.requests
	}
	return list
}

var latencyBounds = []float64{0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10}

func bucket(seconds float64) int {
	for i, bound := range latencyBounds {
		if seconds <= bound {
			return i
		}
	}
	return len(latencyBounds)
}

func cloned(d *account.Details) *account.Details {
	clone := *d
	clone.Attempts.Counts = append([]int64(nil), d.Attempts.Counts...)
	return &clone
}

const recordedInput = "/srv/customers/2026/november/websites-of-all-countries.csv"

// details are categories, confidences and failures in proportion to the records.
func details(d *account.Details, s account.Status) {
	answered := float64(s.Outcomes["answered"])
	d.Categories, d.Confidence, d.Failures = nil, make([]int64, 10), nil
	for _, c := range []struct {
		name  string
		share float64
	}{
		{"Business and Finance", 0.173}, {"Technology & Computing", 0.141}, {"Style & Fashion", 0.098}, {"Home & Garden", 0.091}, {"Travel", 0.083},
		{"Food & Drink", 0.077}, {"Medical Health", 0.064}, {"Automotive", 0.055}, {"Education", 0.049}, {"Sports", 0.041}, {"Real Estate", 0.033}, {"Hobbies & Interests", 0.027},
	} {
		d.Categories = append(d.Categories, account.CategoryCount{Name: c.name, Records: int64(c.share * answered)})
	}
	for i, share := range []float64{0.002, 0.006, 0.014, 0.031, 0.062, 0.108, 0.171, 0.224, 0.241, 0.141} {
		d.Confidence[i] = int64(share * answered)
	}
	for i, f := range []account.Failure{
		{Line: 1_182_344, Input: "https://shop.brueckner-und-soehne.example/de/kollektion/herbst-2026?utm_source=newsletter", Status: "rejected", Reason: "HTTP 404 Not Found: no such site"},
		{Line: 1_181_907, Input: "parked-domain-7731.example", Status: "rejected", Reason: "HTTP 404 Not Found: no such site"},
		{Line: 1_179_215, Input: "intranet", Status: "invalid", Reason: "not a website: a bare domain needs a dot"},
		{Line: 1_178_530, Input: "http://slow.example.org/catalogue/all-products.html", Status: "failed", Reason: "gave up after 5 attempts: timeout: the service did not answer in time"},
		{Line: 1_177_003, Input: "ümläut.example", Status: "rejected", Reason: "HTTP 422 Unprocessable Entity: the site answers with an empty page"},
		{Line: 1_175_118, Input: "n/a", Status: "invalid", Reason: "not a website: a bare domain needs a dot"},
	} {
		f.File, f.At = recordedInput, s.Updated.Add(-time.Duration(7*i*i+3)*time.Second)
		d.Failures = append(d.Failures, f)
	}
}
