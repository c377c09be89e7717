package classify

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// The first entry for a host name without a page is right about as often as its confidence says.
// The confidences are fitted to the first list and not to the second, whose hundred answers
// estimate a share within a tenth.
func TestHostConfidence(t *testing.T) {
	for file, tolerance := range map[string]float64{
		"testdata/naics_hosts.tsv":      0.02,
		"testdata/naics_hosts_held.tsv": 0.1,
	} {
		t.Run(file, func(t *testing.T) {
			e := engines()["naics"]
			answers, confidence, right := 0, 0.0, 0.0
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSpace(string(content)), "\n")[1:] {
				host, codes, _ := strings.Cut(line, "\t")
				matches := e.matchWebsite(host, nil, nil, 1)
				if len(matches) == 0 {
					continue
				}
				answers++
				confidence += matches[0].Confidence
				if slices.ContainsFunc(strings.Split(codes, "|"), func(code string) bool {
					return strings.HasPrefix(best(e, matches), code)
				}) {
					right++
				}
			}
			confidence, right = confidence/float64(answers), right/float64(answers)
			t.Logf("%d answers, mean confidence %.3f, right %.3f", answers, confidence, right)
			if math.Abs(confidence-right) > tolerance {
				t.Errorf("a mean confidence of %.3f, but %.3f are right", confidence, right)
			}
		})
	}
}

// A word within a name earns little confidence, and entries below the least confidence are not
// answered.
func TestHostNames(t *testing.T) {
	e := engines()["naics"]
	for _, tt := range []struct {
		host        string
		least, most float64 // confidence of the first entry
	}{
		{"applebees.com", 0, 0.4},
		{"apple.com", 0.3, mostByName},
		{"theonion.com", 0.3, mostByName},
		{"twitch.tv", 0.7, 1},
		{"jpmorganchase.com", 0, 0.3},
		{"stanford.edu", 0.7, 1},
		{"irs.gov", 0.7, 1},
	} {
		confidence := 0.0
		for _, m := range e.matchWebsite(tt.host, nil, nil, 3) {
			confidence = max(confidence, m.Confidence)
			if m.Confidence < LeastConfidence {
				t.Errorf("%s: an entry with a confidence of %v", tt.host, m.Confidence)
			}
		}
		if confidence < tt.least || confidence > tt.most {
			t.Errorf("%s: a confidence of %v, want %v to %v", tt.host, confidence, tt.least, tt.most)
		}
	}
}
